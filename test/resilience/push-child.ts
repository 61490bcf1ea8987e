/**
 * A server to be killed that sends push notifications to this machine: agents that say ten words, one of them without
 * ever coming to an end, on the SQLite file that it is told.
 */
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { agent } from "../../src/adapters/index.ts";
import { createServer } from "../../src/server/index.ts";

const [file = ""] = process.argv.slice(2);

async function* words(): AsyncGenerator<string> {
  for (let number = 1; number <= 10; number++) {
    yield `${number} `;
    await setTimeout(1);
  }
}
const brief = agent({ name: "brief", description: "Says ten words" }, words);
const endless = agent(
  { name: "endless", description: "Says ten words and stays" },
  async function* ({ signal }) {
    yield* words();
    await once(signal, "abort");
  },
);

const push = { allowPrivate: true, retry: { firstMs: 10, mostMs: 50 } };
const server = createServer({ brief, endless }, { store: `sqlite:${file}`, merge: false, push });
const { url } = await server.listen();
process.send?.(url);
