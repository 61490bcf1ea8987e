/** The `colloquy/mastra` entry point converts Mastra agents to A2A agents. Requires `@mastra/core`. */
export * from "../adapters/mastra/index.ts";
