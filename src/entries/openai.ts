/** The `colloquy/openai` entry point serves agents as models of an OpenAI-compatible API. */
export * from "../agents/openai-facade/index.ts";
