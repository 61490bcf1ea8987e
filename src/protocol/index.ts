/**
 * THE WORDS. Everything else in Colloquy speaks in these: the A2A 1.0 types exactly as they stand on the wire (plain
 * JSON shapes), a few makers, the errors, and `fold`, the only place where a task changes. This room imports nothing.
 *
 * Glossary
 * - agent: whatever does the work; yields what happens, knows nothing of HTTP.
 * - task: a unit of work with a state; always the fold of its events.
 * - event: one thing that happened to a task; numbered 1, 2, 3 … in the task's log.
 * - seq: an event's number; also the SSE id, and where a reader resumes.
 * - turn: one message to a task and all that the agent does because of it.
 * - run: an agent at work on one turn. A task never has two.
 * - runner: the one writer of a task.
 * - reader, subscription: somebody who follows a task; never drives it.
 * - caller: who asks, as (tenant, principal); owns tasks and contexts.
 * - context: a conversation that groups tasks (`contextId`).
 * - artifact: an output; grows by chunks.
 * - terminal / interrupted: a state that ends a task / that waits for the user.
 * - card: an agent's description of itself.
 * - binding: how a request travels: JSON-RPC, HTTP+JSON or gRPC. An interface is one, in one version, at its URL.
 * - dialect: how one version writes on one binding; inside, all is 1.0. The simple dialect is another way to write 0.3.
 * - capability: what a card offers, and only then is served. An extension is one that is not A2A's own.
 * - scheme: a way to authenticate, as a card declares it; credentials are what a client has for one.
 * - webhook: where events of a task are posted; also a reader, whose place in the log is kept. Such a post is a (push)
 *   notification, and the outbox sends them.
 * - violation: one thing wrong with a request, with its path.
 */
export type { JsonObject, JsonValue } from "./json.ts";
export { isObject } from "./json.ts";
export type { DataPart, Message, Part, RawPart, Role, TextPart, UrlPart } from "./message.ts";
export { data, file, fromBase64, isPlainText, text, getText, toBase64 } from "./message.ts";
export type { AgentCardContent } from "./agent-card-validation.ts";
export {
  validateAgentCardContent,
  assertValidAgentCard,
  assertNoCardViolations,
} from "./agent-card-validation.ts";
export { acceptsMediaType, matchesMediaType, getMediaType } from "./media-type.ts";
export type { Artifact, Task, TaskState, TaskStatus, TerminalState } from "./task.ts";
export { isInterrupted, isTerminal, formatTaskState, TASK_STATES } from "./task.ts";
export type { StreamResponse, TaskArtifactUpdateEvent, TaskEvent, TaskStatusUpdateEvent } from "./event.ts";
export { getTaskId, getTaskState } from "./event.ts";
export type { Transition, EventRefusal } from "./fold.ts";
export {
  fold,
  isEventRefusal,
  getTransition,
  TRANSITIONS,
  appendPart,
  findRefusal,
  copyTask,
} from "./fold.ts";
export type { EventEncoder } from "./log-event.ts";
export { LogEvent } from "./log-event.ts";
export { canMergeChunks, MergedChunk } from "./merged-chunk.ts";
export type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  OAuthFlows,
  ProtocolBinding,
  SecurityRequirement,
  SecurityScheme,
} from "./agent-card.ts";
export type {
  AuthenticationInfo,
  CancelTaskRequest,
  CreateTaskPushNotificationConfigRequest,
  DeleteTaskPushNotificationConfigRequest,
  Empty,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  OperationName,
  Operations,
  SendMessageConfiguration,
  SendMessageRequest,
  SendMessageResponse,
  StreamingOperation,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from "./operation.ts";
export { isStreamingOperation } from "./operation.ts";
export type {
  A2AErrorOptions,
  A2AErrorReason,
  TransportErrorReason,
  ErrorReason,
  FieldViolation,
} from "./error.ts";
export { A2AError } from "./error.ts";
