/**
 * A2A BESIDE MCP. `createMcpServer` makes tools of agents, for any MCP host: each skill a tool. `createMcpToolClient` is the other
 * way round, the tools of an MCP server inside an agent. The packages of MCP are optional peers, each loaded when it is
 * used.
 */
export type { McpAgentSource, McpServer, McpServerOptions } from "./create-mcp-server.ts";
export { createMcpServer } from "./create-mcp-server.ts";
export type { McpServerAddress } from "./mcp-connection.ts";
export type {
  McpTool,
  McpToolClient,
  McpToolClientOptions,
  McpToolCallOptions,
  McpToolProgress,
} from "./mcp-tool-client.ts";
export { createMcpToolClient } from "./mcp-tool-client.ts";
export type { McpToolResult } from "./mcp-tool-result.ts";
