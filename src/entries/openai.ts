/**
 * The `colloquy/openai` entry point converts an OpenAI-compatible endpoint to an agent, and serves agents as
 * models of an OpenAI-compatible API.
 */
export * from "../adapters/openai/index.ts";
export * from "../openai-facade/index.ts";
