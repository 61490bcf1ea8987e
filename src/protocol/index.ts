/**
 * A2A 1.0 TYPES. All other folders of Colloquy use these types, which have exactly the JSON shape of the wire
 * format. The folder also has functions that create parts, the errors, and `fold`, the only function that
 * changes a task. It imports no other folder.
 *
 * Glossary
 * - agent: Code that performs work and yields events. It does not depend on HTTP.
 * - task: A unit of work with a state. A task is always the result of folding its events.
 * - event: A change of a task. Events are numbered 1, 2, 3 … in the task's log.
 * - log: The append-only list of a task's events.
 * - fold: The function that applies one event to a task.
 * - seq: The sequence number of an event. It is also the SSE event id and the cursor from which a reader
 *   resumes.
 * - turn: The processing of one message to a task, including everything that the agent does in response.
 * - run: One execution of an agent for a turn. A task never has two runs at the same time.
 * - runner: The single writer of a task.
 * - reader, subscription: A consumer that follows the events of a task. A reader never changes the task.
 * - caller: The authenticated principal that sends requests, as (tenant, principal). A caller owns tasks and
 *   contexts.
 * - client: A program that sends A2A requests.
 * - user: A person who communicates with an agent.
 * - context: A conversation that groups tasks, identified by `contextId`.
 * - artifact: An output of a task. It can grow chunk by chunk.
 * - terminal: Describes a state that ends a task: COMPLETED, FAILED, CANCELED, or REJECTED.
 * - interrupted: Describes a state in which a task waits for its user: INPUT_REQUIRED or AUTH_REQUIRED.
 * - card: An agent card: the A2A document in which an agent describes itself. Cards of the card protocol are
 *   always called message cards, or by their type, for example task cards.
 * - binding: A transport for requests: JSON-RPC, HTTP+JSON, or gRPC. An interface is one binding in one
 *   version at one URL.
 * - dialect: The encoding of one A2A version on one binding. Internally, Colloquy uses only A2A 1.0. The
 *   simple dialect is a second encoding of A2A 0.3.
 * - capability: A feature that an agent card declares. The server rejects requests for undeclared
 *   capabilities.
 * - extension: A feature that is not part of A2A, identified by a URI and declared on an agent card.
 * - security scheme: An authentication method that an agent card declares.
 * - credentials: The secret that a client sends to authenticate with a security scheme.
 * - webhook: A URL to which the server posts the events of a task. The server stores the last event that each
 *   webhook received.
 * - push notification: An HTTP POST request that delivers an event to a webhook.
 * - outbox: The component that sends push notifications and retries failed deliveries.
 * - violation: A problem in one field of a request, reported with the path of the field.
 */
export type { JsonObject, JsonValue } from "./json.ts";
export { isObject } from "./json.ts";
export type { DataPart, Message, Part, RawPart, Role, TextPart, UrlPart } from "./message.ts";
export { data, file, fromBase64, isPlainText, text, getText, toBase64 } from "./message.ts";

export {
  validateAgentCardContent,
  assertValidAgentCard,
  assertNoCardViolations,
} from "./agent-card-validation.ts";
export { acceptsMediaType, matchesMediaType, getMediaType } from "./media-type.ts";
export type { Artifact, Task, TaskState, TaskStatus } from "./task.ts";
export { isInterrupted, isTerminal, formatTaskState, TASK_STATES } from "./task.ts";
export type { StreamResponse, TaskArtifactUpdateEvent, TaskEvent, TaskStatusUpdateEvent } from "./event.ts";
export { getTaskId, getTaskState } from "./event.ts";
export type { Transition, EventRefusal } from "./fold.ts";
export { fold, isEventRefusal, TRANSITIONS, appendPart, findRefusal, copyTask } from "./fold.ts";
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
export type { A2AErrorOptions, ErrorReason, FieldViolation } from "./error.ts";
export { A2AError } from "./error.ts";
