/** The `colloquy/ai-sdk` entry: AI SDK agents as A2A agents, and A2A agents as AI SDK tools. Requires `ai`. */
export * from "../adapters/ai-sdk/index.ts";
