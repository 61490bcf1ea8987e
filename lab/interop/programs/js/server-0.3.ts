/**
 * The test agent with the last official JavaScript SDK that supports only 0.3, over JSON-RPC and HTTP+JSON. Prints its
 * URL as one JSON line once it listens, and exits when its standard input closes. With `--token TOKEN`, the server
 * requires a bearer token.
 */
import type { AgentCard, Message } from "a2a-js-sdk-0.3";
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "a2a-js-sdk-0.3/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "a2a-js-sdk-0.3/server/express";
import type { RequestHandler } from "express";
import { SCRIPTED_TEST_AGENT_CARD, startSdkServer } from "../../../../src/client/sdk-server.fixture.ts";

const [flag, token] = process.argv.slice(2);

type State = "submitted" | "working" | "input-required" | "completed" | "canceled";

/** Handles `count`, which streams "one two three", `ask`, which asks, and `wait`, which works until canceled. */
class Obedient implements AgentExecutor {
  readonly #contexts = new Map<string, string>();

  execute = (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, contextId, userMessage, task } = request;
    this.#contexts.set(taskId, contextId);
    const text = userMessage.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
    const publishState = (state: State, final = false): void =>
      bus.publish({ kind: "status-update", taskId, contextId, status: createStatus(state), final });
    if (!task) {
      const history: Message[] = [userMessage];
      bus.publish({ kind: "task", id: taskId, contextId, status: createStatus("submitted"), history });
    }
    publishState("working");
    if (text === "wait") return Promise.resolve();
    if (text === "ask" && !task) publishState("input-required", true);
    else {
      const words = task ? [`got ${text}`] : ["one ", "two ", "three"];
      for (const [index, word] of words.entries()) {
        const artifact = { artifactId: "answer", parts: [{ kind: "text" as const, text: word }] };
        bus.publish({ kind: "artifact-update", taskId, contextId, artifact, append: index > 0 });
      }
      publishState("completed", true);
    }
    bus.finished();
    return Promise.resolve();
  };

  cancelTask = (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const contextId = this.#contexts.get(taskId) ?? "";
    bus.publish({ kind: "status-update", taskId, contextId, status: createStatus("canceled"), final: true });
    bus.finished();
    return Promise.resolve();
  };
}

function createStatus(state: State): { state: State; timestamp: string } {
  return { state, timestamp: new Date().toISOString() };
}

const requireToken: RequestHandler = (request, response, next) => {
  if (flag !== "--token" || request.headers.authorization === `Bearer ${token}`) next();
  else response.status(401).set("www-authenticate", "Bearer").end();
};

const { url } = await startSdkServer(({ url, app }) => {
  const card: AgentCard = {
    ...SCRIPTED_TEST_AGENT_CARD,
    protocolVersion: "0.3.0",
    url: `${url}/jsonrpc`,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [{ url: `${url}/rest`, transport: "HTTP+JSON" }],
    ...(flag === "--token" && {
      securitySchemes: { token: { type: "http" as const, scheme: "bearer" } },
      security: [{ token: [] }],
    }),
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Obedient());
  const userBuilder = UserBuilder.noAuthentication;
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/jsonrpc", requireToken, jsonRpcHandler({ requestHandler, userBuilder }));
  app.use("/rest", requireToken, restHandler({ requestHandler, userBuilder }));
});
console.log(JSON.stringify({ url }));
process.stdin.on("end", () => process.exit(0)).resume();
