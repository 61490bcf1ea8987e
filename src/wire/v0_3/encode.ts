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
} from "../../protocol/index.ts";
import { toCard03 } from "./agent-card-conversion.ts";
import { wrapNonObjectData } from "./wrapped-non-object-data.ts";
import type {
  Artifact03,
  Event03,
  Message03,
  Part03,
  PushConfig03,
  Task03,
  TaskPushConfig03,
  TaskStatus03,
} from "./types.ts";
import { ROLE_NAMES, TASK_STATE_NAMES } from "./enum-names.ts";

// Converts the 1.0 model to the JSON-RPC types of A2A 0.3.

/**
 * Converts a 1.0 part to 0.3. The conversion omits the media type and the file name of a text or data
 * part. A2A 0.3 has no media type or file name for these parts. The official SDKs also omit the media type
 * and the file name.
 */
export function toPart03(part: Part): Part03 {
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
export function toMessage03(message: Message): Message03 {
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
