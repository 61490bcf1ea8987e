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
  getText,
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
  ServerAddress,
  AuthenticateFunction,
  AuthenticationOption,
  MountedHandler,
  CardSigningOptions,
  AuthRequest,
  GrpcOptions,
  CallerContext,
  ListenOptions,
  PushOptions,
  Server,
  ServerLimits,
  ServerOptions,
  TenantsOption,
} from "../server/index.ts";
export { createServer, toNodeListener, signCard } from "../server/index.ts";
export type {
  CardTrustOptions,
  CardVerifier,
  ConnectOptions,
  GrpcClientOptions,
  A2AClient,
  SendOptions,
  VerifiedSignature,
  WebhookOptions,
} from "../client/index.ts";
export { collect, connect, createCardVerifier, createWebhook } from "../client/index.ts";
export type { CommandOptions, GeneratorOptions, AgentYield, Turn } from "../adapters/index.ts";
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
