/**
 * A2A 1.0 TYPES. All other folders use the types in `protocol`. The types have exactly the JSON shape of the
 * wire format. The folder `protocol` also contains the errors, functions that create parts, and `fold`, the
 * only function that changes a task. The folder `protocol` imports no other folder.
 *
 * Glossary
 * - agent: code that performs work and yields events, independent of HTTP.
 * - task: a unit of work with a state, which is always the result of folding the task's events.
 * - event: a change of a task, numbered 1, 2, 3 … in the task's log.
 * - log: the append-only list of a task's events.
 * - fold: the function that applies one event to a task.
 * - seq: the sequence number of an event, also used as the SSE event id and as the cursor for resuming a
 *   stream. The stream cursor extension calls this number the generation.
 * - turn: the processing of one message to a task, including everything that the agent does in response.
 * - run: one execution of an agent for a turn. A task never has two runs at the same time.
 * - active task: a task whose turns this process runs. The single writer of its log.
 * - node: a server process that shares a PostgreSQL database with other server processes.
 * - lease: the exclusive right of a node to run the turn of a task, which ends unless the node renews it.
 * - epoch: a number of a task that increases with each claim of the task. The store rejects events that were
 *   written under an older epoch.
 * - hint: a notification from one node to the others that a task has changed. Nodes also poll the database,
 *   because a hint can be lost.
 * - drain: the time between SIGTERM and the end of a server, in which the server answers requests and starts no
 *   more agents.
 * - reader, subscription: a consumer that follows the events of a task and never changes the task.
 * - caller: the authenticated sender of requests, which owns tasks and contexts and is identified by tenant
 *   and principal.
 * - client: a program that sends A2A requests.
 * - user: a person who communicates with an agent.
 * - context: a conversation that groups tasks, identified by `contextId`.
 * - artifact: an output of a task, which can grow chunk by chunk.
 * - terminal: describes the states that end a task (COMPLETED, FAILED, CANCELED, and REJECTED).
 * - interrupted: describes the states of a task that waits for its user (INPUT_REQUIRED and AUTH_REQUIRED).
 * - card: an agent card, which is the A2A document that describes an agent. Cards of the card protocol are
 *   always called message cards, or by their type, for example task cards.
 * - binding: a transport for requests (JSON-RPC, HTTP+JSON, or gRPC).
 * - interface: one binding in one A2A version at one URL.
 * - dialect: the encoding of one A2A version on one binding. Internally, Colloquy uses only A2A 1.0. The
 *   simple dialect is a second encoding of A2A 0.3.
 * - capability: a feature that an agent card declares. The server rejects requests for undeclared
 *   capabilities.
 * - extension: a feature that is not part of A2A, identified by a URI and declared on an agent card.
 * - security scheme: an authentication method that an agent card declares.
 * - credentials: the secret that a client sends to authenticate with a security scheme.
 * - webhook: a URL to which the server posts the events of a task. The server stores the last event that each
 *   webhook received.
 * - push notification: an HTTP POST request that delivers an event to a webhook.
 * - outbox: the component that sends push notifications and retries failed deliveries.
 * - violation: a problem in one field of a request, reported with the path of the field.
 */
export * from "./public.ts";
export { estimateJsonSize, isObject, isSameJson, parseJsonOrUndefined } from "./json.ts";
export { isPlainTextPart } from "./message.ts";

export {
  validateAgentCardContent,
  assertValidAgentCard,
  assertNoCardViolations,
} from "./agent-card-validation.ts";
export { acceptsMediaType, matchesMediaType, getMediaType } from "./media-type.ts";
export { isThought, listAnswerParts } from "./message.ts";
export { formatTaskState, TASK_STATES } from "./task.ts";
export type { TaskEvent } from "./event.ts";
export { getEventTaskId, getEventTaskState } from "./event.ts";
export type { ArtifactEnding } from "./artifact-content-tracker.ts";
export { ArtifactContentTracker, computeNewParts, splitLastPiece } from "./artifact-content-tracker.ts";
export {
  AGENT_STEERING_EXTENSION_URI,
  IDEMPOTENT_SEND_EXTENSION_URI,
  PARENT_TASK_KEY,
  STEERING_SIGNAL_KEY,
  STREAM_CURSOR_EXTENSION_URI,
} from "./declared-extensions.ts";
export {
  addEventPosition,
  addTaskGeneration,
  findAfterGeneration,
  removeTaskGeneration,
  splitEventPosition,
} from "./event-generation.ts";
export { findMessageJsonInStatusUpdate, toMessageStatusUpdate } from "./message-event.ts";
export type { EventRefusal } from "./fold.ts";
export {
  fold,
  foldArtifact,
  isEventRefusal,
  ALLOWED_TRANSITIONS_BY_TASK_STATE,
  appendPartJoiningText,
  findEventRefusal,
  copyTask,
} from "./fold.ts";
export type { EventEncoder, EventTextEncoder } from "./log-event.ts";
export { LogEvent, canMergeChunks, isChunkReplacedBy, MergedChunk } from "./log-event.ts";
export type { AgentCardSignature, OAuthFlows } from "./agent-card.ts";
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
  OperationName,
  Operations,
  SendMessageRequest,
  StreamingOperation,
  SubscribeToTaskRequest,
} from "./operation.ts";
export { isStreamingOperation } from "./operation.ts";
export { type A2AErrorOptions } from "./error.ts";

export { findIdViolation, MAX_ID_LENGTH, MAX_URL_LENGTH } from "./id-limits.ts";
export { replaceControlCharacters, truncateText } from "./text.ts";
export { deriveAgentId, isAgentId } from "./derive-agent-id.ts";
export {
  stripTrailingCharacters,
  isLoopbackHost,
  findHostRefusal,
  isLoopbackName,
  parseHostAndPort,
} from "./host-and-port.ts";
export type { FillRandomBytes, TraceContext, TraceHeaders } from "./trace-context.ts";
export {
  createChildContext,
  createRootContext,
  fillFromRandomPool,
  formatTraceparent,
  parseTraceContext,
  parseTraceparent,
  toTraceHeaders,
} from "./trace-context.ts";
export { parseModelRetryDelay, parseRetryAfter } from "./parse-retry-after.ts";
