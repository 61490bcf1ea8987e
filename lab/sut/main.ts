import { once } from "node:events";
import { createServer as createNetServer, type AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import type { AgentCapabilities } from "../../src/protocol/index.ts";
import { custom, type AuthResult } from "../../src/server/auth/index.ts";
import { createServer, type ServerOptions } from "../../src/server/index.ts";
import { itkJsonRpcRoute } from "./itk-json-rpc-route.ts";
import { createSutAgent } from "./sut-agent.ts";
import { createExecutorAgent } from "./scenario-executor.ts";

const USAGE = `usage: npm run lab -- sut --port N
  --store memory|sqlite:FILE        where tasks live (memory)
  --spec-revision 1.0.0|1.0.1       whose tables are followed (1.0.1)
  --card v1|v0.3|hybrid             the card without a version header (hybrid)
  --no-streaming  --no-push         leave a capability out
  --executor                        an AgentExecutor of a2a-js plays the scenarios (TCK for 1.0)
  --required-ext                    require the TCK's extension
  --allow-private-webhooks          push to this machine
  --strict                          accept no deviations of real peers from the specification (TCK)
  --lenient                         take messages without an id (ACTS)
  --auth                            want "Bearer itk-valid-token"; refuse "itk-insufficient-token" as forbidden (ACTS)
  --grpc-port N                     serve gRPC too`;

const { values } = parseArgs({
  options: {
    port: { type: "string" },
    store: { type: "string", default: "memory" },
    "spec-revision": { type: "string", default: "1.0.1" },
    card: { type: "string", default: "hybrid" },
    "no-streaming": { type: "boolean", default: false },
    "no-push": { type: "boolean", default: false },
    executor: { type: "boolean", default: false },
    "required-ext": { type: "boolean", default: false },
    "allow-private-webhooks": { type: "boolean", default: false },
    strict: { type: "boolean", default: false },
    lenient: { type: "boolean", default: false },
    auth: { type: "boolean", default: false },
    "grpc-port": { type: "string" },
    help: { type: "boolean", default: false },
    // Option names of the ITK.
    httpPort: { type: "string" },
    grpcPort: { type: "string" },
  },
});

const port = Number(values.port ?? values.httpPort);
const grpcPortText = values["grpc-port"] ?? values.grpcPort;
const grpcPort = grpcPortText === undefined ? undefined : Number(grpcPortText);
const { store, card, "spec-revision": specRevision } = values;
if (
  !Number.isInteger(port) ||
  !Number.isInteger(grpcPort ?? 0) ||
  !isStore(store) ||
  !isSpecRevision(specRevision) ||
  !isCardShape(card)
) {
  console.error(USAGE);
  process.exit(2);
}

const capabilities: AgentCapabilities = {
  streaming: !values["no-streaming"],
  pushNotifications: !values["no-push"],
  extendedAgentCard: values.auth,
  ...(values["required-ext"]
    ? { extensions: [{ uri: "urn:a2a:tck:required-extension", required: true }] }
    : {}),
};

const itkAuthScheme = custom({
  schemeName: "itk",
  securityScheme: { httpAuthSecurityScheme: { scheme: "Bearer" } },
  authenticate: ({ header }) => verifyItkToken(header("authorization")),
});

const options: ServerOptions = {
  store,
  specRevision,
  cardFormat: card,
  // The TCK uses one message id per scenario for different messages.
  deduplicateMessages: false,
  // The TCK does not respect the agent's input modes, either.
  inputModePolicy: "ignore",
  mountedHandlers: [itkJsonRpcRoute],
  push: values["no-push"] ? false : { allowPrivate: values["allow-private-webhooks"] },
  ...(values.strict ? { peerLeniency: "none" } : {}),
  ...(values.lenient ? { autoMessageId: true } : {}),
  ...(values.auth ? { authenticate: itkAuthScheme } : {}),
};

const sut = values.executor ? createExecutorAgent({ capabilities }) : createSutAgent({ capabilities });
const server = createServer({ sut }, options);
const { url, grpc } = await server.listen({
  port,
  ...(grpcPort === undefined ? {} : { grpc: await chooseGrpcOptions(grpcPort) }),
});
const grpcNotice = grpc ? `, gRPC: ${grpc.host}:${grpc.port}` : "";
console.log(
  `The agent under test listens at ${url} (store: ${store}, spec revision: ${specRevision}${grpcNotice}).`,
);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close());

/** The TCK for 0.3 expects gRPC addresses in URL form. The TCK for 1.0 expects plain addresses. */
async function chooseGrpcOptions(requestedPort: number): Promise<{ port: number; publicAddress?: string }> {
  if (card !== "v0.3") return { port: requestedPort };
  const free = createNetServer().listen(requestedPort, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address() as AddressInfo;
  free.close();
  await once(free, "close");
  return { port, publicAddress: `http://127.0.0.1:${port}` };
}

/** The tokens that ACTS uses. */
function verifyItkToken(authorization: string | undefined): AuthResult {
  if (authorization === undefined) return undefined;
  if (authorization === "Bearer itk-insufficient-token") return { missingScopes: ["work"] };
  return authorization === "Bearer itk-valid-token" ? { tenant: "", principal: "itk" } : "invalid";
}

function isStore(choice: string): choice is "memory" | `sqlite:${string}` {
  return choice === "memory" || /^sqlite:.+$/.test(choice);
}

function isCardShape(value: string): value is "v1" | "v0.3" | "hybrid" {
  return value === "v1" || value === "v0.3" || value === "hybrid";
}

function isSpecRevision(value: string): value is "1.0.0" | "1.0.1" {
  return value === "1.0.0" || value === "1.0.1";
}
