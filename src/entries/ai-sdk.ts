/**
 * The `colloquy/ai-sdk` entry point converts AI SDK agents to A2A agents, and A2A agents to AI SDK tools.
 * Requires `ai`.
 */
export * from "../agents/adapters/ai-sdk/index.ts";
