/**
 * A2A AND MCP. `createMcpServer` offers the skills of agents as tools to MCP hosts. `createMcpToolClient`
 * lets an agent call the tools of an MCP server. The MCP packages are optional peer dependencies, which are
 * loaded on first use.
 */
export type { McpAgentSource, McpServer, McpServerOptions } from "./create-mcp-server.ts";
export { createMcpServer } from "./create-mcp-server.ts";
export type { McpToolClient, McpToolClientOptions } from "./mcp-tool-client.ts";
export { createMcpToolClient } from "./mcp-tool-client.ts";
