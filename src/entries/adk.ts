/** The `colloquy/adk` entry: ADK agents as A2A servers, and remote A2A agents inside ADK. Requires `@google/adk`. */
export * from "../adk/index.ts";
