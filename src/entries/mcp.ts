/**
 * The `colloquy/mcp` entry point serves agents as MCP tools, and makes MCP tools available to agents. The
 * entry point requires the packages of the MCP SDK.
 */
export * from "../agents/mcp/index.ts";
