/**
 * The `colloquy` entry point. `agent` converts an async generator to an agent, `createServer` serves agents
 * over A2A, and `connect` calls remote agents. The `colloquy` entry point also exports the A2A types.
 */
export type {
  AgentCapabilities,
  AgentCard,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  Artifact,
  DataPart,
  ErrorReason,
  FieldViolation,
  JsonObject,
  JsonValue,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  Part,
  RawPart,
  Role,
  SecurityRequirement,
  SecurityScheme,
  SendMessageConfiguration,
  SendMessageResponse,
  SteeringSignal,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskPushNotificationConfig,
  TaskState,
  TaskStatus,
  TaskStatusUpdateEvent,
  TextPart,
  UrlPart,
} from "../protocol/index.ts";
export {
  A2AError,
  data,
  file,
  fromBase64,
  getText,
  isInterrupted,
  isTerminal,
  MESSAGE_EVENTS_EXTENSION_URI,
  PARENT_TASK_EXTENSION_URI,
  text,
  toBase64,
} from "../protocol/index.ts";
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
} from "../engine/index.ts";
export type { RetentionOptions, RetentionPeriods } from "../retention/index.ts";
export type { LogFormat, LogObserverOptions } from "../logging/index.ts";
export { createLogObserver } from "../logging/index.ts";
export type { MemoryStoreOptions, PostgresStoreOptions, SqliteStoreOptions } from "../stores/index.ts";
export { MemoryStore, PostgresStore, SqliteStore } from "../stores/index.ts";
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
  GrpcClientOptions,
  SendOptions,
  WebhookOptions,
} from "../client/index.ts";
export {
  collect,
  connect,
  createCardVerifier,
  createWebhook,
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
} from "../adapters/index.ts";
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
} from "../adapters/index.ts";
export type { ServeConfig } from "../config/index.ts";
export { defineConfig } from "../config/index.ts";
