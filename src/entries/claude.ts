/**
 * The `colloquy/claude` entry point converts agents of the Claude Agent SDK to A2A agents. Requires
 * `@anthropic-ai/claude-agent-sdk`.
 */
export type { ClaudeOptions, ClaudeQuery, ClaudeQueryOptions } from "../adapters/claude/index.ts";
export { fromClaude } from "../adapters/claude/index.ts";
