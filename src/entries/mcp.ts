/**
 * The `colloquy/mcp` entry point serves agents as MCP tools, and makes MCP tools available to agents. The
 * entry point requires the packages of the MCP SDK.
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
  McpToolStreamOptions,
} from "../mcp/index.ts";
export { createMcpServer, createMcpToolClient } from "../mcp/index.ts";
