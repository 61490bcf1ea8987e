/**
 * The test agent with the official JavaScript SDK, for JSON-RPC and HTTP+JSON of A2A 1.0. Prints its URL as one JSON
 * line once it listens, and exits when its standard input closes. With `--token TOKEN`, the server requires a bearer
 * token.
 */
import { AgentCard } from "@a2a-js/sdk";
import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import type { RequestHandler } from "express";
import { ScriptedA2aJsTestExecutor } from "../../../../src/client/a2a-js-server.fixture.ts";
import { SCRIPTED_TEST_AGENT_CARD, startSdkServer } from "../../../../src/client/sdk-server.fixture.ts";

const [flag, token] = process.argv.slice(2);
const security = {
  securitySchemes: { token: { httpAuthSecurityScheme: { scheme: "bearer" } } },
  securityRequirements: [{ schemes: { token: { list: [] } } }],
};

const requireToken: RequestHandler = (request, response, next) => {
  if (flag !== "--token" || request.headers.authorization === `Bearer ${token}`) next();
  else response.status(401).set("www-authenticate", "Bearer").end();
};

const { url } = await startSdkServer(({ url, app }) => {
  const card = AgentCard.fromJSON({
    ...SCRIPTED_TEST_AGENT_CARD,
    ...(flag === "--token" ? security : {}),
    supportedInterfaces: [
      { url: `${url}/jsonrpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
    ],
  });
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    new ScriptedA2aJsTestExecutor(),
  );
  const userBuilder = UserBuilder.noAuthentication;
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/jsonrpc", requireToken, jsonRpcHandler({ requestHandler, userBuilder }));
  app.use("/rest", requireToken, restHandler({ requestHandler, userBuilder }));
});
console.log(JSON.stringify({ url }));
process.stdin.on("end", () => process.exit(0)).resume();
