/**
 * Calls the tools of an MCP server from an agent. Progress of the tool becomes progress of the task.
 * Canceling the task cancels the tool call.
 *
 *     npm run -s example examples/15-mcp-tools.ts
 */
import { fileURLToPath } from "node:url";
import { agent, connect, createServer, getText } from "colloquy";
import { createMcpToolClient } from "colloquy/mcp";

// The server process starts with the first call. For a running server, pass `{ url: "https://…/mcp" }`.
const stock = createMcpToolClient({
  command: process.execPath,
  args: [fileURLToPath(new URL("mcp-server.ts", import.meta.url))],
});

const grocer = agent(
  { name: "grocer", description: "Answers questions about the stock" },
  async function* ({ text, signal }) {
    const fruit = /apples|pears/.exec(text)?.[0] ?? "plums";
    const { text: count, isError } = yield* stock.streamTool("in_stock", { fruit }, { signal });
    yield isError ? `The stock is unavailable: ${count}` : `There are ${count} ${fruit}.`;
  },
);

const server = createServer(grocer, { store: "memory" });
const { url } = await server.listen();
const remote = await connect(url);
const answer = await remote.send("How many apples are there?");
if ("task" in answer) console.log(answer.task.artifacts?.map(({ parts }) => getText(parts)).join(""));

await server.close();
await stock.close();
