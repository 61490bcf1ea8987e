/**
 * Follows a stream over an unreliable network. The connection is cut after every few events. The client
 * resumes the stream each time, without losing or repeating an event.
 *
 *     node examples/03-streaming-client.ts
 */
import { setTimeout as pause } from "node:timers/promises";
import { agent, connect, createServer, readText } from "colloquy";

const counter = agent({ name: "counter", description: "Counts slowly" }, async function* ({ text }) {
  for (let number = 1; number <= Number(text); number++) {
    yield `${number} `;
    await pause(20);
  }
});

const server = createServer(counter, { store: "memory" });
const { url } = await server.listen();

let cuts = 0;
const remote = await connect(url, {
  fetch: async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get("content-type") === "text/event-stream";
    return isStream && response.body ? new Response(cutAfter(response.body, 6), response) : response;
  },
  reconnect: { initialDelayMs: 10 },
});

for await (const text of readText(remote.stream("30"))) process.stdout.write(text);
console.log(`\nCut ${cuts} times.`);
await server.close();

async function* cutAfter(body: AsyncIterable<Uint8Array>, chunks: number) {
  for await (const chunk of body) {
    yield chunk;
    if (--chunks === 0) {
      cuts++;
      throw new Error("The connection was cut.");
    }
  }
}
