import { parseArgs } from "node:util";
import { createServer } from "../../src/server/index.ts";
import { sutAgent } from "./agent.ts";

const USAGE =
  "usage: npm run sut -- --port N [--store memory|sqlite:FILE] [--spec-revision 1.0.0|1.0.1]   (defaults: memory, 1.0.1)";

const { values } = parseArgs({
  options: {
    port: { type: "string" },
    store: { type: "string", default: "memory" },
    "spec-revision": { type: "string", default: "1.0.1" },
  },
});

const port = Number(values.port);
const { "spec-revision": specRevision } = values;
const { store } = values;
if (!Number.isInteger(port) || !isStore(store) || !isRevision(specRevision)) {
  console.error(USAGE);
  process.exit(2);
}

// The TCK makes one message id per scenario and sends different messages under it.
const server = createServer({ sut: sutAgent }, { store, specRevision, deduplicate: false });
const { url } = await server.listen({ port });
console.log(`The agent under test listens at ${url} (store: ${store}, spec revision: ${specRevision}).`);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close());

function isStore(choice: string): choice is "memory" | `sqlite:${string}` {
  return choice === "memory" || /^sqlite:.+$/.test(choice);
}

function isRevision(value: string): value is "1.0.0" | "1.0.1" {
  return value === "1.0.0" || value === "1.0.1";
}
