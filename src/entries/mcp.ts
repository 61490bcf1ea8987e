/**
 * The `colloquy/mcp` entry: agents as MCP tools, and MCP tools inside agents. Requires the MCP SDK.
 */
export type {
  McpAgentSource,
  McpServer,
  McpServerAddress,
  McpServerOptions,
  McpTool,
  McpToolCallOptions,
  McpToolClient,
  McpToolClientOptions,
  McpToolProgress,
  McpToolResult,
} from "../mcp/index.ts";
export { createMcpServer, createMcpToolClient } from "../mcp/index.ts";
