import type {
  AgentCard,
  Artifact,
  Message,
  OperationName,
  Operations,
  Part,
  SecurityScheme,
  SendMessageConfiguration,
  Task,
  TaskEvent,
  TaskPushNotificationConfig,
  TaskStatus,
} from "../../protocol/index.ts";
import { mapValues, toCard, toFlows } from "./card.ts";
import { toWrapped } from "./data-part.ts";
import { isFinal, notIn03, toPushConfig } from "./encode.ts";
import { nameOfConfig, nameOfTask } from "./resource-name.ts";

// 1.0 as the ProtoJSON of 0.3's proto. A part has no metadata there, a file no name, a message no references to tasks:
// what has no field is left out, because strict readers refuse fields that they do not know.

function toPart(part: Part): object {
  if ("text" in part) return { text: part.text };
  if ("data" in part) return { data: { data: toWrapped(part.data).data } };
  const file = "raw" in part ? { fileWithBytes: part.raw } : { fileWithUri: part.url };
  return { file: part.mediaType === undefined ? file : { ...file, mimeType: part.mediaType } };
}

function toMessage(message: Message): object {
  const { parts, referenceTaskIds: _, ...rest } = message;
  return { ...rest, content: parts.map(toPart) };
}

function toArtifact(artifact: Artifact): object {
  return { ...artifact, parts: artifact.parts.map(toPart) };
}

function toStatus({ state, message, timestamp }: TaskStatus): object {
  return {
    state: state === "TASK_STATE_CANCELED" ? "TASK_STATE_CANCELLED" : state,
    ...(message ? { message: toMessage(message) } : {}),
    ...(timestamp === undefined ? {} : { timestamp }),
  };
}

function toTask({ status, artifacts, history, ...task }: Task): object {
  return {
    ...task,
    status: toStatus(status),
    ...(artifacts ? { artifacts: artifacts.map(toArtifact) } : {}),
    ...(history ? { history: history.map(toMessage) } : {}),
  };
}

/** A `StreamResponse`, and a `SendMessageResponse`. */
export function toEvent(event: TaskEvent): object {
  if ("artifactUpdate" in event) {
    const { artifactUpdate } = event;
    return { artifactUpdate: { ...artifactUpdate, artifact: toArtifact(artifactUpdate.artifact) } };
  }
  if ("statusUpdate" in event) {
    const { status, ...update } = event.statusUpdate;
    return { statusUpdate: { ...update, status: toStatus(status), final: isFinal(status) } };
  }
  return "task" in event ? { task: toTask(event.task) } : { message: toMessage(event.message) };
}

function toTaskPushConfig(config: TaskPushNotificationConfig): object {
  const { taskId = "", id = "" } = config;
  return { name: nameOfConfig(taskId, id), pushNotificationConfig: toPushConfig(config) };
}

/** The proto has the schemes and requirements of 1.0, under its own names. */
function toProtoCard(card: AgentCard): object {
  const { securitySchemes, securityRequirements, skills } = card;
  const { securitySchemes: _schemes, security: _security, ...rest } = toCard(card);
  return {
    ...rest,
    skills: skills.map(({ securityRequirements: security, ...skill }) =>
      security ? { ...skill, security } : skill,
    ),
    ...(securitySchemes ? { securitySchemes: mapValues(securitySchemes, toScheme) } : {}),
    ...(securityRequirements ? { security: securityRequirements } : {}),
  };
}

function toScheme(scheme: SecurityScheme): object {
  if (!("oauth2SecurityScheme" in scheme)) return scheme;
  const { flows, ...rest } = scheme.oauth2SecurityScheme;
  return { oauth2SecurityScheme: { ...rest, flows: toFlows(flows) } };
}

const RESULTS: { readonly [O in OperationName]: (result: Operations[O]["result"]) => object } = {
  SendMessage: toEvent,
  SendStreamingMessage: toEvent,
  GetTask: toTask,
  ListTasks: notIn03,
  CancelTask: toTask,
  SubscribeToTask: toEvent,
  GetExtendedAgentCard: toProtoCard,
  CreateTaskPushNotificationConfig: toTaskPushConfig,
  GetTaskPushNotificationConfig: toTaskPushConfig,
  ListTaskPushNotificationConfigs: ({ configs, ...rest }) => ({
    configs: configs.map(toTaskPushConfig),
    ...rest,
  }),
  DeleteTaskPushNotificationConfig: () => ({}),
};

/** The response message of an operation, or one of its stream. */
export function toResult<O extends OperationName>(operation: O, result: Operations[O]["result"]): object {
  return RESULTS[operation](result);
}

/** The same as text. */
export function encodeResult<O extends OperationName>(operation: O, result: Operations[O]["result"]): string {
  return JSON.stringify(toResult(operation, result));
}

/** Always there, because without one some servers do not wait. */
function toConfiguration(configuration: SendMessageConfiguration = {}): object {
  const { taskPushNotificationConfig: push, returnImmediately, ...rest } = configuration;
  return {
    ...rest,
    ...(push ? { pushNotification: toPushConfig(push) } : {}),
    blocking: returnImmediately !== true,
  };
}

function toSendMessageRequest({
  message,
  configuration,
  metadata,
}: Operations["SendMessage"]["params"]): object {
  return {
    message: toMessage(message),
    configuration: toConfiguration(configuration),
    ...(metadata ? { metadata } : {}),
  };
}

function toConfigRequest({ taskId, id }: Operations["GetTaskPushNotificationConfig"]["params"]): object {
  return { name: nameOfConfig(taskId, id) };
}

const PARAMS: { readonly [O in OperationName]: (params: Operations[O]["params"]) => object } = {
  SendMessage: toSendMessageRequest,
  SendStreamingMessage: toSendMessageRequest,
  GetTask: ({ id, historyLength }) => ({
    name: nameOfTask(id),
    ...(historyLength === undefined ? {} : { historyLength }),
  }),
  ListTasks: notIn03,
  CancelTask: ({ id }) => ({ name: nameOfTask(id) }),
  SubscribeToTask: ({ id }) => ({ name: nameOfTask(id) }),
  GetExtendedAgentCard: () => ({}),
  CreateTaskPushNotificationConfig: (config) => ({
    parent: nameOfTask(config.taskId),
    ...(config.id === undefined ? {} : { configId: config.id }),
    config: toTaskPushConfig(config),
  }),
  GetTaskPushNotificationConfig: toConfigRequest,
  ListTaskPushNotificationConfigs: ({ taskId, pageSize, pageToken }) => ({
    parent: nameOfTask(taskId),
    ...(pageSize === undefined ? {} : { pageSize }),
    ...(pageToken === undefined ? {} : { pageToken }),
  }),
  DeleteTaskPushNotificationConfig: toConfigRequest,
};

/** A request message, for a client. Throws UNSUPPORTED_OPERATION for an operation that 0.3 does not have. */
export function encodeParams<O extends OperationName>(operation: O, params: Operations[O]["params"]): object {
  return PARAMS[operation](params);
}
