/** A server to be killed: an agent that counts endlessly, on the given SQLite file and port. */
import { setTimeout } from "node:timers/promises";
import { agent } from "../../src/agents/adapters/index.ts";
import { createServer } from "../../src/server/index.ts";

const [file = "", port = "0"] = process.argv.slice(2);

const counter = agent({ name: "counter", description: "Counts" }, async function* ({ signal }) {
  for (let number = 1; ; number++) {
    yield `${number} `;
    await setTimeout(1, undefined, { signal });
  }
});

const server = createServer({ counter }, { store: `sqlite:${file}`, mergeChunks: false });
const { url } = await server.listen({ port: Number(port) });
process.send?.(url);
