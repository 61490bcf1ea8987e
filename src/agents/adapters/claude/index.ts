/**
 * Adapter that serves agents of the Claude Agent SDK over A2A. Install the package
 * `@anthropic-ai/claude-agent-sdk` yourself.
 */
export type { ClaudeOptions } from "./from-claude.ts";
export { fromClaude } from "./from-claude.ts";
