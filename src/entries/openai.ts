/** The `colloquy/openai` entry: OpenAI-compatible endpoints as agents, and agents as models of an OpenAI-compatible endpoint. */
export * from "../adapters/openai/index.ts";
export * from "../openai-facade/index.ts";
