/** A server to be killed: an agent that counts, on the given PostgreSQL database. */
import { setTimeout } from "node:timers/promises";
import { agent } from "../../src/agents/adapters/index.ts";
import { createServer } from "../../src/server/index.ts";
import { PostgresStore } from "../../src/stores/index.ts";

const [database = "", leaseMs = "1000"] = process.argv.slice(2);

/** Counts to the number in the message. */
const counter = agent({ name: "counter", description: "Counts" }, async function* ({ text, signal }) {
  for (let number = 1; number <= Number(text); number++) {
    yield `${number} `;
    await setTimeout(1, undefined, { signal });
  }
});

const store = new PostgresStore(database, { leaseMs: Number(leaseMs) });
const server = createServer({ counter }, { store, mergeChunks: false, observer: false });
const { url } = await server.listen({ port: 0 });
process.send?.(url);
