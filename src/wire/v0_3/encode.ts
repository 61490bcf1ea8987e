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
import { toCard03 } from "./card.ts";
import { wrapData } from "./wrapped-data.ts";
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

// 1.0 as the JSON-RPC types of A2A 0.3.

/** A text's or data's media type and file name have no place in 0.3 and are left out, as the official SDKs do. */
export function toPart03(part: Part): Part03 {
  const { metadata } = part;
  if ("text" in part) {
    return metadata === undefined
      ? { kind: "text", text: part.text }
      : { kind: "text", text: part.text, metadata };
  }
  if ("data" in part) return { kind: "data", ...wrapData(part.data, metadata) };
  const about = {
    ...(part.filename === undefined ? {} : { name: part.filename }),
    ...(part.mediaType === undefined ? {} : { mimeType: part.mediaType }),
  };
  const file = "raw" in part ? { ...about, bytes: part.raw } : { ...about, uri: part.url };
  return metadata === undefined ? { kind: "file", file } : { kind: "file", file, metadata };
}

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

/** A bare task: a result of 0.3, and what it pushes. */
export function toTask03({ status, artifacts, history, ...task }: Task): Task03 {
  return {
    kind: "task",
    ...task,
    status: toTaskStatus03(status),
    ...(artifacts ? { artifacts: artifacts.map(toArtifact03) } : {}),
    ...(history ? { history: history.map(toMessage03) } : {}),
  };
}

/** True for a state in which a turn is over: 0.3 calls that final, also where the task goes on later. */
export function isFinalStatus({ state }: TaskStatus): boolean {
  return isTerminal(state) || isInterrupted(state);
}

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

const RESULT_CONVERTERS: { readonly [O in OperationName]: (result: Operations[O]["result"]) => unknown } = {
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

/** The result of an operation. */
export function encodeResult<O extends OperationName>(operation: O, result: Operations[O]["result"]): string {
  return JSON.stringify(RESULT_CONVERTERS[operation](result));
}

function toSendConfiguration03(configuration: SendMessageConfiguration): object {
  const { taskPushNotificationConfig: push, returnImmediately, ...rest } = configuration;
  return {
    ...rest,
    ...(push ? { pushNotificationConfig: toPushConfig03(push) } : {}),
    // Servers do not agree on what it means when it is left out.
    blocking: returnImmediately !== true,
  };
}

const PARAMS_CONVERTERS: { readonly [O in OperationName]: (params: Operations[O]["params"]) => object } = {
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

/** 0.3 knows no tenants. */
function omitTenant(params: { tenant?: string }): object {
  const { tenant: _, ...rest } = params;
  return rest;
}

function toPushConfigParams03({ taskId, id }: Operations["GetTaskPushNotificationConfig"]["params"]): object {
  return { id: taskId, pushNotificationConfigId: id };
}

/** The parameters of a request, for a client. Throws UNSUPPORTED_OPERATION for an operation that 0.3 does not have. */
export function encodeParams<O extends OperationName>(operation: O, params: Operations[O]["params"]): object {
  return PARAMS_CONVERTERS[operation](params);
}

export function throwListTasksUnsupported(): never {
  throw new A2AError("UNSUPPORTED_OPERATION", "A2A 0.3 can not list tasks; remember their ids, or use 1.0.");
}
