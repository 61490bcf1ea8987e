/**
 * Connects a client to a server without a network, which is the shortest way to test an agent. A server is a
 * function from `Request` to `Response`, so it also runs in Hono, Next, Bun, and Deno.
 *
 *     node examples/04-no-socket.ts
 */
import { agent, connect, createServer, inputRequired } from "colloquy";

const baker = agent(
  { name: "baker", description: "Bakes cakes to order" },
  async function* ({ text, history }) {
    if (history.length === 1) yield inputRequired(`A ${text}, gladly. Which size?`);
    yield `Here is your ${text} cake.`;
  },
);

const server = createServer(baker, { store: "memory" });
const remote = await connect("http://baker.example", {
  fetch: (input, init) => server.fetch(new Request(input, init)),
});

const asked = await remote.send("birthday cake");
if (!("task" in asked)) throw new Error("Expected a task.");
console.log(asked.task.status.state, asked.task.status.message?.parts);

const baked = await remote.send("large", { taskId: asked.task.id });
if ("task" in baked) console.log(baked.task.status.state, baked.task.artifacts?.[0]?.parts);
await server.close();
