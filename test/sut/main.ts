import { parseArgs } from "node:util";
import type { TaskStore } from "../../src/engine/index.ts";
import { createServer } from "../../src/server/index.ts";
import { MemoryStore, SqliteStore } from "../../src/stores/index.ts";
import { sutAgent } from "./agent.ts";
import { withoutMessageIds } from "./forgetful-store.ts";

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
const store = storeOf(values.store);
if (!Number.isInteger(port) || !store || !isRevision(specRevision)) {
  console.error(USAGE);
  process.exit(2);
}

const server = createServer({ sut: sutAgent }, { store: withoutMessageIds(store), specRevision });
const { url } = await server.listen({ port });
console.log(`The agent under test listens at ${url} (store: ${store.name}, spec revision: ${specRevision}).`);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close());

function storeOf(choice: string): TaskStore | undefined {
  if (choice === "memory") return new MemoryStore();
  const [, file] = /^sqlite:(.+)$/.exec(choice) ?? [];
  return file === undefined ? undefined : new SqliteStore(file);
}

function isRevision(value: string): value is "1.0.0" | "1.0.1" {
  return value === "1.0.0" || value === "1.0.1";
}
