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
import { toCard } from "./card.ts";
import { toWrapped } from "./data-part.ts";
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
import { ROLES, STATES } from "./words.ts";

// 1.0 as the JSON-RPC types of A2A 0.3.

/** A text's or data's media type and file name have no place in 0.3 and are left out, as the official SDKs do. */
export function toPart(part: Part): Part03 {
  const { metadata } = part;
  if ("text" in part) {
    return metadata === undefined
      ? { kind: "text", text: part.text }
      : { kind: "text", text: part.text, metadata };
  }
  if ("data" in part) return { kind: "data", ...toWrapped(part.data, metadata) };
  const about = {
    ...(part.filename === undefined ? {} : { name: part.filename }),
    ...(part.mediaType === undefined ? {} : { mimeType: part.mediaType }),
  };
  const file = "raw" in part ? { ...about, bytes: part.raw } : { ...about, uri: part.url };
  return metadata === undefined ? { kind: "file", file } : { kind: "file", file, metadata };
}

export function toMessage(message: Message): Message03 {
  return {
    kind: "message",
    ...message,
    role: ROLES[message.role],
    parts: message.parts.map(toPart),
  };
}

function toArtifact(artifact: Artifact): Artifact03 {
  return { ...artifact, parts: artifact.parts.map(toPart) };
}

function toStatus({ state, message, timestamp }: TaskStatus): TaskStatus03 {
  const status: TaskStatus03 = { state: STATES[state] };
  if (message !== undefined) status.message = toMessage(message);
  if (timestamp !== undefined) status.timestamp = timestamp;
  return status;
}

/** A bare task: a result of 0.3, and what it pushes. */
export function toTask({ status, artifacts, history, ...task }: Task): Task03 {
  return {
    kind: "task",
    ...task,
    status: toStatus(status),
    ...(artifacts ? { artifacts: artifacts.map(toArtifact) } : {}),
    ...(history ? { history: history.map(toMessage) } : {}),
  };
}

/** True for a state in which a turn is over: 0.3 calls that final, also where the task goes on later. */
export function isFinal({ state }: TaskStatus): boolean {
  return isTerminal(state) || isInterrupted(state);
}

export function toEvent(event: TaskEvent): Event03 {
  if ("artifactUpdate" in event) {
    const { artifactUpdate } = event;
    return { kind: "artifact-update", ...artifactUpdate, artifact: toArtifact(artifactUpdate.artifact) };
  }
  if ("statusUpdate" in event) {
    const { status, ...update } = event.statusUpdate;
    return { kind: "status-update", ...update, status: toStatus(status), final: isFinal(status) };
  }
  return "task" in event ? toTask(event.task) : toMessage(event.message);
}

export function toPushConfig({ id, url, token, authentication }: TaskPushNotificationConfig): PushConfig03 {
  const config: PushConfig03 = id === undefined ? { url } : { id, url };
  if (token !== undefined) config.token = token;
  if (authentication) {
    const { scheme, ...rest } = authentication;
    config.authentication = { schemes: [scheme], ...rest };
  }
  return config;
}

function toTaskPushConfig(config: TaskPushNotificationConfig): TaskPushConfig03 {
  return { taskId: config.taskId ?? "", pushNotificationConfig: toPushConfig(config) };
}

const RESULTS: { readonly [O in OperationName]: (result: Operations[O]["result"]) => unknown } = {
  SendMessage: toEvent,
  SendStreamingMessage: toEvent,
  GetTask: toTask,
  ListTasks: notIn03,
  CancelTask: toTask,
  SubscribeToTask: toEvent,
  GetExtendedAgentCard: toCard,
  CreateTaskPushNotificationConfig: toTaskPushConfig,
  GetTaskPushNotificationConfig: toTaskPushConfig,
  ListTaskPushNotificationConfigs: ({ configs }) => configs.map(toTaskPushConfig),
  DeleteTaskPushNotificationConfig: () => null,
};

/** The result of an operation. */
export function encodeResult<O extends OperationName>(operation: O, result: Operations[O]["result"]): string {
  return JSON.stringify(RESULTS[operation](result));
}

function toConfiguration(configuration: SendMessageConfiguration): object {
  const { taskPushNotificationConfig: push, returnImmediately, ...rest } = configuration;
  return {
    ...rest,
    ...(push ? { pushNotificationConfig: toPushConfig(push) } : {}),
    // Servers do not agree on what it means when it is left out.
    blocking: returnImmediately !== true,
  };
}

const PARAMS: { readonly [O in OperationName]: (params: Operations[O]["params"]) => object } = {
  SendMessage: toSendParams,
  SendStreamingMessage: toSendParams,
  GetTask: withoutTenant,
  ListTasks: notIn03,
  CancelTask: withoutTenant,
  SubscribeToTask: ({ id }) => ({ id }),
  GetExtendedAgentCard: () => ({}),
  CreateTaskPushNotificationConfig: toTaskPushConfig,
  GetTaskPushNotificationConfig: toConfigName,
  ListTaskPushNotificationConfigs: ({ taskId }) => ({ id: taskId }),
  DeleteTaskPushNotificationConfig: toConfigName,
};

function toSendParams({ message, configuration, metadata }: Operations["SendMessage"]["params"]): object {
  return {
    message: toMessage(message),
    ...(configuration ? { configuration: toConfiguration(configuration) } : {}),
    ...(metadata ? { metadata } : {}),
  };
}

/** 0.3 knows no tenants. */
function withoutTenant(params: { tenant?: string }): object {
  const { tenant: _, ...rest } = params;
  return rest;
}

function toConfigName({ taskId, id }: Operations["GetTaskPushNotificationConfig"]["params"]): object {
  return { id: taskId, pushNotificationConfigId: id };
}

/** The parameters of a request, for a client. Throws UNSUPPORTED_OPERATION for an operation that 0.3 does not have. */
export function encodeParams<O extends OperationName>(operation: O, params: Operations[O]["params"]): object {
  return PARAMS[operation](params);
}

export function notIn03(): never {
  throw new A2AError("UNSUPPORTED_OPERATION", "A2A 0.3 can not list tasks; remember their ids, or use 1.0.");
}
