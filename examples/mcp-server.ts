/**
 * MCP server over stdio with one tool, which reports stock levels. Used by 10-adk-mcp.ts and 15-mcp-tools.ts.
 */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const stock: Record<string, number> = { apples: 12, pears: 3 };

const server = new McpServer({ name: "stock", version: "1.0.0" });
server.registerTool(
  "in_stock",
  { description: "Returns the number of fruits in stock", inputSchema: { fruit: z.string() } },
  ({ fruit }) => ({ content: [{ type: "text", text: String(stock[fruit] ?? 0) }] }),
);
await server.connect(new StdioServerTransport());
