/**
 * Serves the skills of an agent as tools for an MCP host. The host receives progress notifications. When the
 * agent asks a question, the host's model answers it with another call of the same tool.
 *
 * The host in this example is a client of the MCP SDK. Other hosts start the MCP server themselves with
 * `colloquy mcp agent.ts` (see docs/mcp.md).
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
      { id: "forecast", name: "Forecast", description: "Returns tomorrow's weather", tags: ["weather"] },
    ],
  },
  async function* ({ text, history }) {
    if (history.length === 1) yield inputRequired("For which city?");
    yield status("Looking at the sky…");
    // Simulates slow work.
    await new Promise((resolve) => setTimeout(resolve, 100));
    yield `It will be sunny in ${text}.`;
  },
);

// `createMcpServer` also accepts the URL of a remote agent.
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
