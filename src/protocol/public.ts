/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export { type JsonObject, type JsonValue } from "./json.ts";
export type { DataPart, Message, Part, RawPart, Role, TextPart, UrlPart } from "./message.ts";
export { data, file, fromBase64, text, getText, toBase64 } from "./message.ts";
export type { Artifact, Task, TaskState, TaskStatus } from "./task.ts";
export { isInterrupted, isTerminal } from "./task.ts";
export type { StreamResponse, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "./event.ts";
export type { SteeringSignal } from "./declared-extensions.ts";
export { MESSAGE_EVENTS_EXTENSION_URI, PARENT_TASK_EXTENSION_URI } from "./declared-extensions.ts";
export type {
  AgentCapabilities,
  AgentCard,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  SecurityRequirement,
  SecurityScheme,
} from "./agent-card.ts";
export type {
  ListTasksRequest,
  ListTasksResponse,
  SendMessageConfiguration,
  SendMessageResponse,
  TaskPushNotificationConfig,
} from "./operation.ts";
export { type ErrorReason, type FieldViolation, A2AError } from "./error.ts";
