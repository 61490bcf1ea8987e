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
import { mapValues, toCard03, toOAuthFlows03 } from "./agent-card-conversion.ts";
import { wrapNonObjectData } from "./wrapped-non-object-data.ts";
import { isFinalStatus, throwListTasksUnsupported, toPushConfig03 } from "./encode.ts";
import { toProtoFileBytes, type ProtoFileBytes } from "./proto-file-bytes.ts";

// Converts the 1.0 model to the ProtoJSON of 0.3's proto. In that proto, parts have no metadata, files have no
// name (before release 0.3.8 of Python's SDK), and messages have no task references. Values without a field are
// omitted, because strict readers reject unknown fields.

function formatTaskResourceName(taskId: string): string {
  return `tasks/${taskId}`;
}

function formatPushConfigResourceName(taskId: string, id: string): string {
  return `tasks/${taskId}/pushNotificationConfigs/${id}`;
}

function toProtoPart(part: Part, fileBytes: ProtoFileBytes): object {
  if ("text" in part) return { text: part.text };
  if ("data" in part) return { data: { data: wrapNonObjectData(part.data).data } };
  const file =
    "raw" in part ? { fileWithBytes: toProtoFileBytes(part.raw, fileBytes) } : { fileWithUri: part.url };
  return { file: part.mediaType === undefined ? file : { ...file, mimeType: part.mediaType } };
}

function toProtoMessage(message: Message, fileBytes: ProtoFileBytes): object {
  const { parts, referenceTaskIds: _, ...rest } = message;
  return { ...rest, content: parts.map((part) => toProtoPart(part, fileBytes)) };
}

function toProtoArtifact(artifact: Artifact, fileBytes: ProtoFileBytes): object {
  return { ...artifact, parts: artifact.parts.map((part) => toProtoPart(part, fileBytes)) };
}

function toProtoTaskStatus({ state, message, timestamp }: TaskStatus, fileBytes: ProtoFileBytes): object {
  return {
    state: state === "TASK_STATE_CANCELED" ? "TASK_STATE_CANCELLED" : state,
    ...(message ? { message: toProtoMessage(message, fileBytes) } : {}),
    ...(timestamp === undefined ? {} : { timestamp }),
  };
}

function toProtoTask({ status, artifacts, history, ...task }: Task, fileBytes: ProtoFileBytes): object {
  return {
    ...task,
    status: toProtoTaskStatus(status, fileBytes),
    ...(artifacts ? { artifacts: artifacts.map((artifact) => toProtoArtifact(artifact, fileBytes)) } : {}),
    ...(history ? { history: history.map((message) => toProtoMessage(message, fileBytes)) } : {}),
  };
}

/** Converts a task event to a `StreamResponse` or `SendMessageResponse` message. */
export function toProtoEvent(event: TaskEvent, fileBytes: ProtoFileBytes): object {
  if ("artifactUpdate" in event) {
    const { artifactUpdate } = event;
    return {
      artifactUpdate: { ...artifactUpdate, artifact: toProtoArtifact(artifactUpdate.artifact, fileBytes) },
    };
  }
  if ("statusUpdate" in event) {
    const { status, ...update } = event.statusUpdate;
    return {
      statusUpdate: { ...update, status: toProtoTaskStatus(status, fileBytes), final: isFinalStatus(status) },
    };
  }
  return "task" in event
    ? { task: toProtoTask(event.task, fileBytes) }
    : { message: toProtoMessage(event.message, fileBytes) };
}

function toProtoTaskPushConfig(config: TaskPushNotificationConfig): object {
  const { taskId = "", id = "" } = config;
  return { name: formatPushConfigResourceName(taskId, id), pushNotificationConfig: toPushConfig03(config) };
}

/**
 * Converts an agent card to the proto of 0.3. The proto has the security types of 1.0 under different names.
 */
function toProtoCard(card: AgentCard): object {
  const { securitySchemes, securityRequirements, skills } = card;
  const { securitySchemes: _schemes, security: _security, ...rest } = toCard03(card);
  return {
    ...rest,
    skills: skills.map(({ securityRequirements: security, ...skill }) =>
      security ? { ...skill, security } : skill,
    ),
    ...(securitySchemes ? { securitySchemes: mapValues(securitySchemes, toProtoSecurityScheme) } : {}),
    ...(securityRequirements ? { security: securityRequirements } : {}),
  };
}

function toProtoSecurityScheme(scheme: SecurityScheme): object {
  if (!("oauth2SecurityScheme" in scheme)) return scheme;
  const { flows, ...rest } = scheme.oauth2SecurityScheme;
  return { oauth2SecurityScheme: { ...rest, flows: toOAuthFlows03(flows) } };
}

const RESULT_CONVERTERS_TO_PROTO: {
  readonly [O in OperationName]: (result: Operations[O]["result"], fileBytes: ProtoFileBytes) => object;
} = {
  SendMessage: toProtoEvent,
  SendStreamingMessage: toProtoEvent,
  GetTask: toProtoTask,
  ListTasks: throwListTasksUnsupported,
  CancelTask: toProtoTask,
  SubscribeToTask: toProtoEvent,
  GetExtendedAgentCard: (card) => toProtoCard(card),
  CreateTaskPushNotificationConfig: toProtoTaskPushConfig,
  GetTaskPushNotificationConfig: toProtoTaskPushConfig,
  ListTaskPushNotificationConfigs: ({ configs, ...rest }) => ({
    configs: configs.map(toProtoTaskPushConfig),
    ...rest,
  }),
  DeleteTaskPushNotificationConfig: () => ({}),
};

/**
 * Converts the result of an operation to a response message, or converts one stream event to a message of
 * the response stream.
 */
export function toProtoResult<O extends OperationName>(
  operation: O,
  result: Operations[O]["result"],
  fileBytes: ProtoFileBytes,
): object {
  return RESULT_CONVERTERS_TO_PROTO[operation](result, fileBytes);
}

/**
 * Converts the configuration of a send request. The client always sends the configuration, because some
 * servers do not wait if a request has no configuration.
 */
function toProtoSendConfiguration(configuration: SendMessageConfiguration = {}): object {
  const { taskPushNotificationConfig: push, returnImmediately, ...rest } = configuration;
  return {
    ...rest,
    ...(push ? { pushNotification: toPushConfig03(push) } : {}),
    blocking: returnImmediately !== true,
  };
}

function toProtoSendMessageRequest({
  message,
  configuration,
  metadata,
}: Operations["SendMessage"]["params"]): object {
  return {
    // A client does not know the SDK of the server. More SDKs expect base64 text than bytes.
    message: toProtoMessage(message, "base64-text"),
    configuration: toProtoSendConfiguration(configuration),
    ...(metadata ? { metadata } : {}),
  };
}

function toProtoPushConfigRequest({
  taskId,
  id,
}: Operations["GetTaskPushNotificationConfig"]["params"]): object {
  return { name: formatPushConfigResourceName(taskId, id) };
}

const PARAMS_CONVERTERS_TO_PROTO: {
  readonly [O in OperationName]: (params: Operations[O]["params"]) => object;
} = {
  SendMessage: toProtoSendMessageRequest,
  SendStreamingMessage: toProtoSendMessageRequest,
  GetTask: ({ id, historyLength }) => ({
    name: formatTaskResourceName(id),
    ...(historyLength === undefined ? {} : { historyLength }),
  }),
  ListTasks: throwListTasksUnsupported,
  CancelTask: ({ id }) => ({ name: formatTaskResourceName(id) }),
  SubscribeToTask: ({ id }) => ({ name: formatTaskResourceName(id) }),
  GetExtendedAgentCard: () => ({}),
  CreateTaskPushNotificationConfig: (config) => ({
    parent: formatTaskResourceName(config.taskId),
    ...(config.id === undefined ? {} : { configId: config.id }),
    config: toProtoTaskPushConfig(config),
  }),
  GetTaskPushNotificationConfig: toProtoPushConfigRequest,
  ListTaskPushNotificationConfigs: ({ taskId, pageSize, pageToken }) => ({
    parent: formatTaskResourceName(taskId),
    ...(pageSize === undefined ? {} : { pageSize }),
    ...(pageToken === undefined ? {} : { pageToken }),
  }),
  DeleteTaskPushNotificationConfig: toProtoPushConfigRequest,
};

/**
 * Encodes the request message of a client. Throws `UNSUPPORTED_OPERATION` if 0.3 does not have the
 * operation.
 */
export function encodeProtoParams<O extends OperationName>(
  operation: O,
  params: Operations[O]["params"],
): object {
  return PARAMS_CONVERTERS_TO_PROTO[operation](params);
}
