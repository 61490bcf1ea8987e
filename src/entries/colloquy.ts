/**
 * The `colloquy` entry: `agent` turns an async generator into an agent, `createServer` serves agents over A2A, and
 * `connect` calls remote agents. It also exports the A2A types that these functions share.
 */
export type {
  A2AErrorOptions,
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
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
  isInterrupted,
  isTerminal,
  text,
  textOf,
  toBase64,
} from "../protocol/index.ts";
export type {
  Agent,
  AgentDescription,
  AgentEvent,
  AgentMessage,
  Caller,
  Observer,
  Run,
  TaskStore,
} from "../engine/index.ts";
export { MemoryStore, type MemoryStoreOptions, SqliteStore } from "../stores/index.ts";
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
} from "../server/index.ts";
export { createServer, nodeListener, signCard } from "../server/index.ts";
export type {
  CardTrust,
  CardVerifier,
  ConnectOptions,
  GrpcConnection,
  Remote,
  SendOptions,
  VerifiedSignature,
  WebhookOptions,
} from "../client/index.ts";
export { collect, connect, createCardVerifier, createWebhook } from "../client/index.ts";
export type { CommandOptions, GeneratorOptions, Said, Turn } from "../adapters/index.ts";
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
} from "../adapters/index.ts";
export { type Config, defineConfig } from "../config/index.ts";
