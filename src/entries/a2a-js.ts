/**
 * The `colloquy/a2a-js` entry point converts an `AgentExecutor` of `@a2a-js/sdk` to an agent. Requires
 * `@a2a-js/sdk`.
 */
export * from "../agents/adapters/a2a-js/index.ts";
