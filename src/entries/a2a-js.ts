/** The `colloquy/a2a-js` entry: an `AgentExecutor` of `@a2a-js/sdk` as an agent. Requires `@a2a-js/sdk`. */
export * from "../adapters/a2a-js/index.ts";
