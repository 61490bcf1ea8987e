/**
 * An agent as a tool of an MCP host: each of its skills is one. The host sees the work go on, and its model answers what
 * the agent asks, with the same tool. Here the host is a client of MCP's own SDK; others start such a server by
 * themselves, with `colloquy mcp agent.ts` (docs/mcp.md).
 *
 *     npm run -s example examples/14-mcp-server.ts
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { agent, inputRequired, status } from "colloquy";
import { createMcpServer } from "colloquy/mcp";

const station = agent(
  {
    name: "station",
    description: "A weather station",
    skills: [
      { id: "forecast", name: "Forecast", description: "Tells the weather of tomorrow", tags: ["weather"] },
    ],
  },
  async function* ({ text, history }) {
    if (history.length === 1) yield inputRequired("For which city?");
    yield status("Looking at the sky…");
    // As whoever looks at the sky takes a while.
    await new Promise((resolve) => setTimeout(resolve, 100));
    yield `It will be sunny in ${text}.`;
  },
);

// An agent of this process; URLs of agents elsewhere stand here just the same.
const server = await createMcpServer({ station });
const { url } = await server.listen();

const host = new Client({ name: "host", version: "1.0.0" });
await host.connect(new StreamableHTTPClientTransport(new URL(url)));
const { tools } = await host.listTools();
console.log(tools.map(({ name, description }) => `${name}: ${description?.split("\n")[0]}`).join("\n"));

const asked = await host.callTool({ name: "station_forecast", arguments: { message: "Will it rain?" } });
const { state, text, taskId } = asked.structuredContent as { state: string; text: string; taskId: string };
console.log(state, text);

const toolResult = await host.callTool(
  { name: "station_forecast", arguments: { message: "Busan", taskId } },
  { onprogress: ({ message }) => console.log(message) },
);
console.log((toolResult.structuredContent as { text: string }).text);

await host.close();
await server.close();
