/**
 * The tools of an MCP server inside an agent. What the tool says of its progress becomes the progress of the task, and a
 * task that is cancelled cancels the tool.
 *
 *     npm run -s example examples/15-mcp-tools.ts
 */
import { fileURLToPath } from "node:url";
import { agent, connect, createServer, getText } from "colloquy";
import { createMcpToolClient } from "colloquy/mcp";

// Started at the first call; `{ url: "https://…/mcp" }` for one that runs already.
const stock = createMcpToolClient({
  command: process.execPath,
  args: [fileURLToPath(new URL("mcp-server.ts", import.meta.url))],
});

const grocer = agent(
  { name: "grocer", description: "Knows what is in stock" },
  async function* ({ text, signal }) {
    const fruit = /apples|pears/.exec(text)?.[0] ?? "plums";
    const { text: number, isError } = yield* stock.streamTool("in_stock", { fruit }, { signal });
    yield isError ? `I can not look: ${number}` : `There are ${number} ${fruit}.`;
  },
);

const server = createServer(grocer, { store: "memory" });
const { url } = await server.listen();
const remote = await connect(url);
const answer = await remote.send("How many apples are there?");
if ("task" in answer) console.log(answer.task.artifacts?.map(({ parts }) => getText(parts)).join(""));

await server.close();
await stock.close();
