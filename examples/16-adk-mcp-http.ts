/**
 * Serves an ADK agent over A2A whose tools come from an MCP server over streamable HTTP. The MCP tools are
 * the skills of another A2A agent.
 *
 *     npm run -s example examples/16-adk-mcp-http.ts
 */
import { LlmAgent, MCPToolset, setLogger } from "@google/adk";
import { agent, connect, createServer, getText } from "colloquy";
import { adkAgent, ScriptedLlm } from "colloquy/adk";
import { createMcpServer } from "colloquy/mcp";

const station = agent(
  { name: "station", description: "Tells the weather of a city" },
  async function* ({ text }) {
    yield `It is sunny in ${text}, 21 °C.`;
  },
);
const mcp = await createMcpServer({ station });
const { url: mcpUrl } = await mcp.listen();

// ADK opens a session for every call and logs the end of each session as an error.
setLogger(null);
const toolset = new MCPToolset({ type: "StreamableHTTPConnectionParams", url: mcpUrl });
const concierge = new LlmAgent({
  name: "concierge",
  instruction: "Answer with the tools.",
  model: process.env["GEMINI_API_KEY"]
    ? "gemini-2.5-flash"
    : new ScriptedLlm(({ text, results }) => {
        const [result] = results;
        if (!result) return { call: "station", args: { message: /in (\w+)/.exec(text)?.[1] ?? "Seoul" } };
        const { content } = result.response as { content: { text: string }[] };
        return `The station says: ${content[0]?.text}`;
      }),
  tools: [toolset],
});

const server = createServer({ concierge: adkAgent(concierge) }, { store: "memory" });
const { url } = await server.listen();
const remote = await connect(url);
const answer = await remote.send("What is the weather in Busan?");
if ("task" in answer) console.log(answer.task.artifacts?.map(({ parts }) => getText(parts)).join(""));

await server.close();
await toolset.close();
await mcp.close();
