/**
 * The `colloquy/openai-agents` entry point converts agents of the OpenAI Agents SDK to A2A agents. Requires
 * `@openai/agents`.
 */
export * from "../agents/adapters/openai-agents/index.ts";
