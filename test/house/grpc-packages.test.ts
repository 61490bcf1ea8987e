import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** A Node hook that makes the optional gRPC packages unavailable. */
const BLOCK_GRPC_PACKAGES = `data:text/javascript,import { registerHooks } from "node:module";
registerHooks({
  resolve(specifier, context, next) {
    if (!/^@(grpc|bufbuild)[/]/.test(specifier)) return next(specifier, context);
    throw Object.assign(new Error("Cannot find package " + specifier), { code: "ERR_MODULE_NOT_FOUND" });
  },
});`;

const SCRIPT = `
const { agent, connect, createServer } = await import(${JSON.stringify(new URL("../../src/entries/colloquy.ts", import.meta.url).href)});
const server = createServer(agent({ name: "a", description: "a" }, async function* () { yield "hi"; }), { store: "memory" });
const createCard = (...bindings) => JSON.stringify({
  name: "a", description: "a", version: "1", capabilities: {}, skills: [], defaultInputModes: [], defaultOutputModes: [],
  supportedInterfaces: bindings.map((protocolBinding) => ({ url: "http://127.0.0.1:1", protocolBinding, protocolVersion: "1.0" })),
});
const connectWith = (card) => connect("http://a.test", { grpc: {}, fetch: async () => new Response(card) });
const results = [
  await server.listen({ grpc: true }).catch((error) => error.message),
  await connectWith(createCard("GRPC")).catch((error) => error.message),
  (await connectWith(createCard("GRPC", "HTTP+JSON", "JSONRPC"))).agentInterface.protocolBinding,
];
const { url } = await server.listen();
const { task } = await (await connect(url)).send("x");
console.log(JSON.stringify([...results, task.status.state]));
await server.close();`;

it("without the gRPC packages everything else works, and using gRPC reports what to install [A-03]", async () => {
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const args = ["--import", BLOCK_GRPC_PACKAGES, "--input-type=module", "--eval", SCRIPT];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  const advice = "gRPC requires two additional packages: npm install @grpc/grpc-js @bufbuild/protobuf";
  expect(JSON.parse(stdout)).toEqual([advice, advice, "HTTP+JSON", "TASK_STATE_COMPLETED"]);
});
