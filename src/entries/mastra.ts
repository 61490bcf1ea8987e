/** The `colloquy/mastra` entry point converts Mastra agents to A2A agents. Requires `@mastra/core`. */
export * from "../agents/adapters/mastra/index.ts";
