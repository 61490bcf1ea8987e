/**
 * The `colloquy/claude` entry point converts agents of the Claude Agent SDK to A2A agents. Requires
 * `@anthropic-ai/claude-agent-sdk`.
 */
export * from "../agents/adapters/claude/index.ts";
