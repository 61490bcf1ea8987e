import {
  A2AError,
  isInterrupted,
  isTerminal,
  type Artifact,
  type Message,
  type OperationName,
  type Operations,
  type Part,
  type SendMessageConfiguration,
  type Task,
  type TaskEvent,
  type TaskPushNotificationConfig,
  type TaskStatus,
  type Role,
  type TaskState,
  type DataPart,
  isObject,
  type JsonObject,
  type JsonValue,
  type LogEvent,
  type StreamingOperation,
} from "../../protocol/index.ts";
import { toCard03 } from "./agent-card-conversion.ts";
import type {
  Artifact03,
  Event03,
  Message03,
  Part03,
  PushConfig03,
  Task03,
  TaskPushConfig03,
  TaskStatus03,
  Role03,
  TaskState03,
} from "./types.ts";

// Converts the 1.0 model to the JSON-RPC types of A2A 0.3.

/**
 * Converts a 1.0 part to 0.3. The conversion omits the media type and the file name of a text or data
 * part. A2A 0.3 has no media type or file name for these parts. The official SDKs also omit the media type
 * and the file name.
 */
function toPart03(part: Part): Part03 {
  const { metadata } = part;
  if ("text" in part) {
    return metadata === undefined
      ? { kind: "text", text: part.text }
      : { kind: "text", text: part.text, metadata };
  }
  if ("data" in part) return { kind: "data", ...wrapNonObjectData(part.data, metadata) };
  const fileInfo = {
    ...(part.filename === undefined ? {} : { name: part.filename }),
    ...(part.mediaType === undefined ? {} : { mimeType: part.mediaType }),
  };
  const file = "raw" in part ? { ...fileInfo, bytes: part.raw } : { ...fileInfo, uri: part.url };
  return metadata === undefined ? { kind: "file", file } : { kind: "file", file, metadata };
}

/** Converts a 1.0 message to 0.3. */
function toMessage03(message: Message): Message03 {
  return {
    kind: "message",
    ...message,
    role: ROLE_NAMES[message.role],
    parts: message.parts.map(toPart03),
  };
}

function toArtifact03(artifact: Artifact): Artifact03 {
  return { ...artifact, parts: artifact.parts.map(toPart03) };
}

function toTaskStatus03({ state, message, timestamp }: TaskStatus): TaskStatus03 {
  const status: TaskStatus03 = { state: TASK_STATE_NAMES[state] };
  if (message !== undefined) status.message = toMessage03(message);
  if (timestamp !== undefined) status.timestamp = timestamp;
  return status;
}

/** Converts a 1.0 task to the 0.3 form for JSON-RPC results and push notifications. */
export function toTask03({ status, artifacts, history, ...task }: Task): Task03 {
  return {
    kind: "task",
    ...task,
    status: toTaskStatus03(status),
    ...(artifacts ? { artifacts: artifacts.map(toArtifact03) } : {}),
    ...(history ? { history: history.map(toMessage03) } : {}),
  };
}

/**
 * Returns `true` if a task state ends the turn. A2A 0.3 marks the status at the end of a turn as final,
 * even if the task continues later.
 */
export function isFinalStatus({ state }: TaskStatus): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/** Converts a 1.0 task event to 0.3. */
export function toEvent03(event: TaskEvent): Event03 {
  if ("artifactUpdate" in event) {
    const { artifactUpdate } = event;
    return { kind: "artifact-update", ...artifactUpdate, artifact: toArtifact03(artifactUpdate.artifact) };
  }
  if ("statusUpdate" in event) {
    const { status, ...update } = event.statusUpdate;
    return { kind: "status-update", ...update, status: toTaskStatus03(status), final: isFinalStatus(status) };
  }
  return "task" in event ? toTask03(event.task) : toMessage03(event.message);
}

/** Converts a 1.0 push notification configuration to 0.3. */
export function toPushConfig03({ id, url, token, authentication }: TaskPushNotificationConfig): PushConfig03 {
  const config: PushConfig03 = id === undefined ? { url } : { id, url };
  if (token !== undefined) config.token = token;
  if (authentication) {
    const { scheme, ...rest } = authentication;
    config.authentication = { schemes: [scheme], ...rest };
  }
  return config;
}

function toTaskPushConfig03(config: TaskPushNotificationConfig): TaskPushConfig03 {
  return { taskId: config.taskId ?? "", pushNotificationConfig: toPushConfig03(config) };
}

const RESULT_CONVERTERS_TO_03: {
  readonly [O in OperationName]: (result: Operations[O]["result"]) => unknown;
} = {
  SendMessage: toEvent03,
  SendStreamingMessage: toEvent03,
  GetTask: toTask03,
  ListTasks: throwListTasksUnsupported,
  CancelTask: toTask03,
  SubscribeToTask: toEvent03,
  GetExtendedAgentCard: toCard03,
  CreateTaskPushNotificationConfig: toTaskPushConfig03,
  GetTaskPushNotificationConfig: toTaskPushConfig03,
  ListTaskPushNotificationConfigs: ({ configs }) => configs.map(toTaskPushConfig03),
  DeleteTaskPushNotificationConfig: () => null,
};

/** Converts the result of an operation to 0.3 JSON. */
export function toResultJson<O extends OperationName>(
  operation: O,
  result: Operations[O]["result"],
): unknown {
  return RESULT_CONVERTERS_TO_03[operation](result);
}

function toSendConfiguration03(configuration: SendMessageConfiguration): object {
  const { taskPushNotificationConfig: push, returnImmediately, ...rest } = configuration;
  return {
    ...rest,
    ...(push ? { pushNotificationConfig: toPushConfig03(push) } : {}),
    // `blocking` is always sent, because servers have different defaults for it.
    blocking: returnImmediately !== true,
  };
}

const PARAMS_CONVERTERS_TO_03: {
  readonly [O in OperationName]: (params: Operations[O]["params"]) => object;
} = {
  SendMessage: toSendParams03,
  SendStreamingMessage: toSendParams03,
  GetTask: omitTenant,
  ListTasks: throwListTasksUnsupported,
  CancelTask: omitTenant,
  SubscribeToTask: ({ id }) => ({ id }),
  GetExtendedAgentCard: () => ({}),
  CreateTaskPushNotificationConfig: toTaskPushConfig03,
  GetTaskPushNotificationConfig: toPushConfigParams03,
  ListTaskPushNotificationConfigs: ({ taskId }) => ({ id: taskId }),
  DeleteTaskPushNotificationConfig: toPushConfigParams03,
};

function toSendParams03({ message, configuration, metadata }: Operations["SendMessage"]["params"]): object {
  return {
    message: toMessage03(message),
    ...(configuration ? { configuration: toSendConfiguration03(configuration) } : {}),
    ...(metadata ? { metadata } : {}),
  };
}

/** Removes the tenant from the parameters, because 0.3 has no tenants. */
function omitTenant(params: { tenant?: string }): object {
  const { tenant: _, ...rest } = params;
  return rest;
}

function toPushConfigParams03({ taskId, id }: Operations["GetTaskPushNotificationConfig"]["params"]): object {
  return { id: taskId, pushNotificationConfigId: id };
}

/**
 * Encodes the parameters of a client's request in 0.3. Throws `UNSUPPORTED_OPERATION` if 0.3 does not have
 * the operation.
 */
export function encodeParams<O extends OperationName>(operation: O, params: Operations[O]["params"]): object {
  return PARAMS_CONVERTERS_TO_03[operation](params);
}

/** Throws `UNSUPPORTED_OPERATION`, because 0.3 cannot list tasks. */
export function throwListTasksUnsupported(): never {
  throw new A2AError(
    "UNSUPPORTED_OPERATION",
    "A2A 0.3 cannot list tasks; store the task ids, or use A2A 1.0.",
  );
}

/** Role names in the JSON-RPC types of 0.3. */
export const ROLE_NAMES: Readonly<Record<Role, Role03>> = { ROLE_USER: "user", ROLE_AGENT: "agent" };

/** Task state names in the JSON-RPC types of 0.3. */
export const TASK_STATE_NAMES: Readonly<Record<TaskState, TaskState03>> = {
  TASK_STATE_SUBMITTED: "submitted",
  TASK_STATE_WORKING: "working",
  TASK_STATE_INPUT_REQUIRED: "input-required",
  TASK_STATE_COMPLETED: "completed",
  TASK_STATE_CANCELED: "canceled",
  TASK_STATE_FAILED: "failed",
  TASK_STATE_REJECTED: "rejected",
  TASK_STATE_AUTH_REQUIRED: "auth-required",
  TASK_STATE_UNSPECIFIED: "unknown",
};

/** Swaps the keys and values of an object. */
export function invertTable<K extends string, V extends string>(table: Readonly<Record<K, V>>): Record<V, K> {
  const entries = Object.entries(table) as [K, V][];
  return Object.fromEntries(entries.map(([key, value]) => [value, key])) as Record<V, K>;
}

// Data parts contain an object in 0.3 and any JSON value in 1.0. Other values are wrapped as `{ value }`, and
// the part's metadata gets a marker. The official SDKs for JavaScript, Python, and Go use the same
// convention.
const WRAPPED_DATA_METADATA_KEY = "data_part_compat";

/** If the data of a part is not an object, wraps the data in an object, as 0.3 requires. */
export function wrapNonObjectData(
  data: JsonValue,
  metadata?: JsonObject,
): { data: JsonObject; metadata?: JsonObject } {
  if (isObject(data)) return metadata === undefined ? { data } : { data, metadata };
  return { data: { value: data }, metadata: { ...metadata, [WRAPPED_DATA_METADATA_KEY]: true } };
}

/** Converts a 0.3 data part to 1.0, and restores data that was wrapped in an object. */
export function unwrapNonObjectData(data: JsonObject, metadata?: JsonObject): DataPart {
  if (metadata === undefined) return { data };
  if (metadata[WRAPPED_DATA_METADATA_KEY] !== true || data["value"] === undefined) return { data, metadata };
  const { [WRAPPED_DATA_METADATA_KEY]: _mark, ...rest } = metadata;
  const content = { data: data["value"] };
  return Object.keys(rest).length > 0 ? { ...content, metadata: rest } : content;
}

/**
 * Returns `true` if a 0.3 stream ends after the event. A stream ends when its turn ends, with either a final
 * status update or a terminal task. The stream of a follow-up message starts with a task that still waits for
 * input. After this first event, the stream of the follow-up message continues.
 */
export function isLastEvent({ event }: LogEvent, operation: StreamingOperation): boolean {
  if ("statusUpdate" in event) return isFinalStatus(event.statusUpdate.status);
  if (!("task" in event)) return "message" in event;
  const { status } = event.task;
  return operation === "SubscribeToTask" ? isFinalStatus(status) : isTerminal(status.state);
}
