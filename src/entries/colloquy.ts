/**
 * The `colloquy` entry point. `agent` converts an async generator to an agent, `createServer` serves agents
 * over A2A, and `connect` calls remote agents. The `colloquy` entry point also exports the A2A types.
 */
export * from "./a2a-model.ts";
export type {
  Agent,
  AgentDescription,
  AgentEvent,
  AgentMessage,
  Caller,
  CommitReport,
  ContextScope,
  Observer,
  PushDeliveryReport,
  RequestReport,
  RunReport,
  StalledReaderReport,
  Run,
  StepExecution,
  StoreGauges,
  TaskStore,
  TurnLimits,
} from "../engine/index.ts";
export type { RetentionOptions, RetentionPeriods } from "../stores/retention/index.ts";
export { LogEvent } from "../protocol/index.ts";
export type { LogFormat, LogObserverOptions } from "../observe/logging/index.ts";
export { createLogObserver } from "../observe/logging/index.ts";
export type {
  MemoryStoreOptions,
  PostgresStoreOptions,
  ServerStore,
  SqliteStoreOptions,
} from "../stores/index.ts";
export { foldLoggedEvents, MemoryStore, PostgresStore, SqliteStore } from "../stores/index.ts";
export type {
  CallerAgentAccess,
  CardSigningOptions,
  CorsOptions,
  GrpcOptions,
  CloseOptions,
  DueWorkOptions,
  DueWorkReport,
  ServerRole,
  ListenOptions,
  MetricsOptions,
  MountedHandler,
  PushOptions,
  Server,
  ServerAddress,
  ServerLimits,
  ServerOptions,
  StoreMaintenance,
  TelemetryOptions,
} from "../server/index.ts";
export { createServer, signCard, toNodeListener } from "../server/index.ts";
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
export type {
  AgentYield,
  CommandOptions,
  ConversationKey,
  ConversationStore,
  GeneratorOptions,
  PostgresConversationStoreOptions,
  Turn,
} from "../agents/adapters/index.ts";
export {
  agent,
  artifact,
  authRequired,
  chunk,
  command,
  createPostgresConversationStore,
  failed,
  inputRequired,
  reply,
  status,
} from "../agents/adapters/index.ts";
export * from "../studio/config/index.ts";
