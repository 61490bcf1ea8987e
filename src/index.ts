/**
 * COLLOQUY puts TypeScript agents on the A2A network. `agent` makes one from an async generator, `createServer` serves
 * agents, `connect` talks to remote ones; the words they share are all here too. ADK agents come in by `colloquy/adk`.
 */
export * from "./protocol/index.ts";
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
export type {
  Address,
  Authenticate,
  Authentication,
  Beside,
  CardSigning,
  Credentials,
  GrpcOptions,
  Inside,
  ListenOptions,
  PushOptions,
  Server,
  ServerLimits,
  ServerOptions,
  Tenants,
} from "./server/index.ts";
export { createServer, nodeListener } from "./server/index.ts";
export type {
  CardTrust,
  CardVerifier,
  ConnectOptions,
  GrpcConnection,
  Remote,
  SendOptions,
  VerifiedSignature,
  WebhookOptions,
} from "./client/index.ts";
export { collect, connect, createCardVerifier, createWebhook } from "./client/index.ts";
export type { Said, Turn } from "./adapters/index.ts";
export {
  agent,
  artifact,
  authRequired,
  chunk,
  command,
  failed,
  inputRequired,
  reply,
  status,
} from "./adapters/index.ts";
