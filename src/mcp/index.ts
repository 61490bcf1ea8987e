/**
 * A2A BESIDE MCP. `createMcpServer` makes tools of agents, for any MCP host: each skill a tool. `mcpTools` is the other
 * way round, the tools of an MCP server inside an agent. The packages of MCP are optional peers, each loaded when it is
 * used.
 */
export type { McpAgent, McpServer, McpServerOptions } from "./create-mcp-server.ts";
export { createMcpServer } from "./create-mcp-server.ts";
export type { McpAddress } from "./mcp-connection.ts";
export type { McpTool, McpTools, McpToolsOptions, ToolCallOptions, ToolProgress } from "./mcp-tools.ts";
export { mcpTools } from "./mcp-tools.ts";
export type { ToolResult } from "./tool-result.ts";
