/**
 * The `colloquy` entry point. `agent` converts an async generator to an agent, `createServer` serves agents
 * over A2A, and `connect` calls remote agents. The `colloquy` entry point also exports the A2A types.
 */
export * from "./a2a-model.ts";
export type * from "../engine/public.ts";
export type { RetentionOptions, RetentionPeriods } from "../stores/retention/index.ts";
export { LogEvent } from "../protocol/index.ts";
export type { LogObserverOptions } from "../observe/logging/index.ts";
export { createLogObserver } from "../observe/logging/index.ts";
export * from "../stores/public.ts";
export * from "../server/public.ts";
export type {
  A2AClient,
  AgentAnswer,
  CardTrustOptions,
  CardVerifier,
  ConnectOptions,
  DiscoveredAgent,
  GrpcClientOptions,
  SendOptions,
  WebhookOptions,
} from "../client/index.ts";
export {
  collect,
  connect,
  createCardVerifier,
  createWebhook,
  discover,
  readText,
  TaskNotCompletedError,
} from "../client/index.ts";
export * from "../agents/adapters/public.ts";
export * from "../studio/config/index.ts";
