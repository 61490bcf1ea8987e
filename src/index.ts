/**
 * Colloquy puts TypeScript agents on the A2A network: `agent` makes one from an async generator, `createServer` serves
 * agents, `connect` talks to remote ones. ADK agents come in through `colloquy/adk`.
 */
export * from "./protocol/index.ts";
export { createServer } from "./server/index.ts";
export type {
  Address,
  Authenticate,
  Credentials,
  ListenOptions,
  Server,
  ServerLimits,
  ServerOptions,
} from "./server/index.ts";
export type {
  Agent,
  AgentDescription,
  AgentEvent,
  AgentMessage,
  Caller,
  Observer,
  Run,
  TaskStore,
} from "./engine/index.ts";
