/**
 * The `colloquy/openai` entry point converts an OpenAI-compatible endpoint to an agent, and serves agents as
 * models of an OpenAI-compatible API.
 */
export * from "../agents/adapters/openai/index.ts";
export * from "../agents/openai-facade/index.ts";
