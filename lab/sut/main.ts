import { once } from "node:events";
import { createServer as createNetServer, type AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import type { AgentCapabilities } from "../../src/protocol/index.ts";
import { createServer, type ServerOptions } from "../../src/server/index.ts";
import { createActsAuthentication, describeActsAgent } from "./acts-conventions.ts";
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
  --acts                            follow the conventions of ACTS: enforce the declared input modes, push to this
                                    machine, guard the extended card, and read ITK_ACTS_AUTH and
                                    ITK_ACTS_REDUCED_CAPABILITIES
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
    acts: { type: "boolean", default: false },
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

// Names and values of a2a-itk, which starts the agent anew for tests that other agents cannot pass.
const isReduced = values.acts && process.env["ITK_ACTS_REDUCED_CAPABILITIES"] === "1";
const requiresAuth = values.acts && process.env["ITK_ACTS_AUTH"] === "1";
const hasPush = !values["no-push"] && !isReduced;

const capabilities: AgentCapabilities = {
  streaming: !values["no-streaming"] && !isReduced,
  pushNotifications: hasPush,
  extendedAgentCard: values.acts && !isReduced,
  ...(values["required-ext"]
    ? { extensions: [{ uri: "urn:a2a:tck:required-extension", required: true }] }
    : {}),
};

const options: ServerOptions = {
  store,
  specRevision,
  cardFormat: card,
  // The TCK uses one message id per scenario for different messages.
  deduplicateMessages: false,
  // The TCK does not respect the agent's input modes, either.
  inputModePolicy: values.acts ? "enforce" : "ignore",
  mountedHandlers: [itkJsonRpcRoute],
  push: hasPush ? { allowPrivate: values["allow-private-webhooks"] || values.acts } : false,
  ...(values.strict ? { peerLeniency: "none" } : {}),
  ...(values.acts ? { authenticate: createActsAuthentication(requiresAuth) } : {}),
};

const description = { capabilities, ...(values.acts ? describeActsAgent(requiresAuth) : {}) };
const sut = values.executor ? createExecutorAgent(description) : createSutAgent(description);
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

function isStore(choice: string): choice is "memory" | `sqlite:${string}` {
  return choice === "memory" || /^sqlite:.+$/.test(choice);
}

function isCardShape(value: string): value is "v1" | "v0.3" | "hybrid" {
  return value === "v1" || value === "v0.3" || value === "hybrid";
}

function isSpecRevision(value: string): value is "1.0.0" | "1.0.1" {
  return value === "1.0.0" || value === "1.0.1";
}
