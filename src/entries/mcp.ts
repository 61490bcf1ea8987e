/** The `colloquy/mcp` entry: agents as MCP tools, and MCP tools inside agents. */
export * from "../mcp/index.ts";
