/**
 * Serves an ADK agent with tools from an MCP server. The agent card lists these tools, and omits them if the
 * MCP server is unavailable.
 *
 *     colloquy serve examples/10-adk-mcp.ts
 *     colloquy send http://127.0.0.1:4120/a2a/grocer "How many pears are there?"
 */
import { fileURLToPath } from "node:url";
import { LlmAgent, MCPToolset } from "@google/adk";
import { ScriptedLlm } from "colloquy/adk";

const scripted = new ScriptedLlm(({ text, results }) => {
  const [result] = results;
  if (!result) return { call: "in_stock", args: { fruit: /many (\w+)/.exec(text)?.[1] ?? "apples" } };
  const { content } = result.response as { content: { text: string }[] };
  return `There are ${content[0]?.text}.`;
});

export const rootAgent = new LlmAgent({
  name: "grocer",
  description: "Answers questions about the stock",
  instruction: "Answer with in_stock.",
  model: process.env["GEMINI_API_KEY"] ? "gemini-2.5-flash" : scripted,
  tools: [
    new MCPToolset({
      type: "StdioConnectionParams",
      serverParams: {
        command: process.execPath,
        args: [fileURLToPath(new URL("mcp-server.ts", import.meta.url))],
      },
    }),
  ],
});
