/**
 * A server to be killed that sends push notifications to this machine. Its agents yield ten words, and one of
 * them never ends. It uses the given SQLite file or PostgreSQL database.
 */
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { agent } from "../../src/agents/adapters/index.ts";
import { createServer } from "../../src/server/index.ts";
import { PostgresStore } from "../../src/stores/index.ts";

const [location = ""] = process.argv.slice(2);
const store = location.startsWith("postgres:")
  ? new PostgresStore(location, { leaseMs: 3000 })
  : (`sqlite:${location}` as const);

async function* yieldWords(): AsyncGenerator<string> {
  for (let number = 1; number <= 10; number++) {
    yield `${number} `;
    await setTimeout(1);
  }
}
const tenWordAgent = agent({ name: "brief", description: "Says ten words" }, yieldWords);
const endlessAgent = agent(
  { name: "endless", description: "Says ten words and stays" },
  async function* ({ signal }) {
    yield* yieldWords();
    await once(signal, "abort");
  },
);

const push = { allowPrivate: true, retry: { initialDelayMs: 10, maxDelayMs: 50 } };
const server = createServer(
  { brief: tenWordAgent, endless: endlessAgent },
  { store, mergeChunks: false, push },
);
const { url } = await server.listen();
process.send?.(url);
