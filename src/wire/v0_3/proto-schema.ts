import type {
  CancelTaskRequest,
  CreateTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  JsonObject,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  Part,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
  TaskState,
} from "../../protocol/index.ts";
import { createConvertingSchema, createListSchema, createCheckedSchema } from "../composite-schemas.ts";
import { createObjectSchema, defineOneofMember, required } from "../object-schema.ts";
import type { DecodingSchema } from "../proto-json-schema.ts";
import { bytesSchema, createEnumSchema, int32Schema, stringSchema, structSchema } from "../scalar-schemas.ts";
import {
  DEFAULT_PUSH_CONFIG_ID,
  PUSH_CONFIG_SCHEMA,
  createSchemasCommonToJsonRpcAndProto,
} from "./common-schemas.ts";
import { fromProtoFileBytes } from "./proto-file-bytes.ts";
import { HISTORY_LENGTH_SCHEMA, ROLE_SCHEMA } from "../v1/schema.ts";

// The proto of 0.3 identifies tasks and push configurations by resource paths. A task id may contain slashes.
// The id of a configuration must not contain one.

const TASK_RESOURCE_NAME_PATTERN = /^tasks\/(.+)$/s;
const PUSH_CONFIG_RESOURCE_NAME_PATTERN = /^tasks\/(.+)\/pushNotificationConfigs\/([^/]+)$/s;

/** Formats the resource name of a task. */
export function formatTaskResourceName(taskId: string): string {
  return `tasks/${taskId}`;
}

/** Formats the resource name of a push notification configuration. */
export function formatPushConfigResourceName(taskId: string, id: string): string {
  return `tasks/${taskId}/pushNotificationConfigs/${id}`;
}

/** Schema for the resource name `tasks/{id}`, which decodes to the id. */
const TASK_RESOURCE_NAME_SCHEMA: DecodingSchema<string> = createConvertingSchema(
  createCheckedSchema(stringSchema, (name) =>
    TASK_RESOURCE_NAME_PATTERN.test(name) ? undefined : "must be tasks/{task id}",
  ),
  (name) => TASK_RESOURCE_NAME_PATTERN.exec(name)?.[1] ?? "",
);

/** Ids in the resource name of a push notification configuration. */
interface PushConfigIds {
  readonly taskId: string;
  readonly id: string;
}

/**
 * Schema for the resource name `tasks/{task id}/pushNotificationConfigs/{id}`, which decodes to the task id
 * and the configuration id.
 */
const PUSH_CONFIG_RESOURCE_NAME_SCHEMA: DecodingSchema<PushConfigIds> = createConvertingSchema(
  createCheckedSchema(stringSchema, (name) =>
    PUSH_CONFIG_RESOURCE_NAME_PATTERN.test(name)
      ? undefined
      : "must be tasks/{task id}/pushNotificationConfigs/{configuration id}",
  ),
  (name) => {
    const [, taskId = "", id = ""] = PUSH_CONFIG_RESOURCE_NAME_PATTERN.exec(name) ?? [];
    return { taskId, id };
  },
);

// Schemas that decode the messages of 0.3's `a2a.proto` (package a2a.v1), as ProtoJSON, into the 1.0 model.

type ProtoTaskState = Exclude<TaskState, "TASK_STATE_CANCELED"> | "TASK_STATE_CANCELLED";

const PROTO_TASK_STATE_SCHEMA: DecodingSchema<TaskState> = createConvertingSchema(
  createEnumSchema<ProtoTaskState>([
    "TASK_STATE_UNSPECIFIED",
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELLED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
  ]),
  (state) => (state === "TASK_STATE_CANCELLED" ? "TASK_STATE_CANCELED" : state),
);

/** `name` exists since release 0.3.8 of Python's SDK. Earlier readers of ProtoJSON reject it, so it is not sent. */
type ProtoFileContent = { mimeType?: string; name?: string } & (
  | { fileWithUri: string }
  | { fileWithBytes: string }
);

type ProtoPartContent = { text: string } | { file: ProtoFileContent } | { data: { data: JsonObject } };

/** Schema for the bytes of a file. The bytes can be the base64 text of the file (`base64TextOfFile`). */
const PROTO_FILE_BYTES_SCHEMA: DecodingSchema<string> = createConvertingSchema(bytesSchema, (bytes, at) =>
  at.accepts("base64TextOfFile") ? fromProtoFileBytes(bytes) : bytes,
);

const PROTO_PART_SCHEMA: DecodingSchema<Part> = createConvertingSchema(
  createObjectSchema<ProtoPartContent>({
    text: defineOneofMember(stringSchema),
    file: defineOneofMember(
      createObjectSchema<ProtoFileContent>({
        fileWithUri: defineOneofMember(stringSchema),
        fileWithBytes: defineOneofMember(PROTO_FILE_BYTES_SCHEMA),
        mimeType: stringSchema,
        name: stringSchema,
      }),
    ),
    data: defineOneofMember(createObjectSchema<{ data: JsonObject }>({ data: required(structSchema, {}) })),
  }),
  (part): Part => {
    if ("text" in part) return { text: part.text };
    if ("data" in part) return { data: part.data.data };
    if (!("file" in part)) return part;
    const { mimeType: mediaType, name: filename } = part.file;
    const content =
      "fileWithBytes" in part.file ? { raw: part.file.fileWithBytes } : { url: part.file.fileWithUri };
    return {
      ...content,
      ...(mediaType !== undefined && { mediaType }),
      ...(filename !== undefined && { filename }),
    };
  },
);

/** Schema for a history length, where 0 counts as not set. */
const PROTO_HISTORY_LENGTH_SCHEMA: DecodingSchema<number> = createConvertingSchema(
  HISTORY_LENGTH_SCHEMA,
  (length) => (length === 0 ? undefined : length),
);

const PROTO_COMMON_SCHEMAS = createSchemasCommonToJsonRpcAndProto({
  partSchema: PROTO_PART_SCHEMA,
  roleSchema: ROLE_SCHEMA,
  stateSchema: PROTO_TASK_STATE_SCHEMA,
  enumNames: { user: "ROLE_USER", agent: "ROLE_AGENT", working: "TASK_STATE_WORKING" },
  historyLengthSchema: PROTO_HISTORY_LENGTH_SCHEMA,
  // The proto field has no presence: official clients omit it to send `false`.
  defaultBlocking: false,
  wireNames: {
    parts: ["content"],
    status: ["message", "update"],
    request: ["message", "request"],
    pushConfig: ["pushNotification"],
  },
});

/** Schema for the `SendMessageRequest` message. */
export const PROTO_SEND_MESSAGE_REQUEST_SCHEMA: DecodingSchema<SendMessageRequest> =
  PROTO_COMMON_SCHEMAS.sendMessage;

/** Schema for the `Task` message. */
export const PROTO_TASK_SCHEMA: DecodingSchema<Task> = PROTO_COMMON_SCHEMAS.task;

/** Schema for the `SendMessageResponse` message. */
export const PROTO_SEND_MESSAGE_RESPONSE_SCHEMA: DecodingSchema<SendMessageResponse> =
  createObjectSchema<SendMessageResponse>(
    { task: defineOneofMember(PROTO_TASK_SCHEMA), message: defineOneofMember(PROTO_COMMON_SCHEMAS.message) },
    { requiresOneof: true, wireNames: { message: ["message", "msg"] } },
  );

/** Schema for the `StreamResponse` message. */
export const PROTO_STREAM_RESPONSE_SCHEMA: DecodingSchema<StreamResponse> =
  createObjectSchema<StreamResponse>(
    {
      task: defineOneofMember(PROTO_TASK_SCHEMA),
      message: defineOneofMember(PROTO_COMMON_SCHEMAS.message),
      statusUpdate: defineOneofMember(PROTO_COMMON_SCHEMAS.statusUpdate),
      artifactUpdate: defineOneofMember(PROTO_COMMON_SCHEMAS.artifactUpdate),
    },
    { requiresOneof: true, wireNames: { message: ["message", "msg"] } },
  );

const DECODE_NAME_AS_ID_SCHEMA_OPTIONS = { wireNames: { id: ["name"] } } as const;

/** Schema for the `GetTaskRequest` message. */
export const PROTO_GET_TASK_REQUEST_SCHEMA: DecodingSchema<GetTaskRequest> = createObjectSchema<
  Omit<GetTaskRequest, "tenant">
>(
  {
    id: required(TASK_RESOURCE_NAME_SCHEMA),
    historyLength: PROTO_HISTORY_LENGTH_SCHEMA,
  },
  DECODE_NAME_AS_ID_SCHEMA_OPTIONS,
);

/** Schema for the `CancelTaskRequest` message. */
export const PROTO_CANCEL_TASK_REQUEST_SCHEMA: DecodingSchema<CancelTaskRequest> = createObjectSchema<{
  id: string;
}>({ id: required(TASK_RESOURCE_NAME_SCHEMA) }, DECODE_NAME_AS_ID_SCHEMA_OPTIONS);

/** Schema for the `TaskSubscriptionRequest` message. */
export const PROTO_TASK_SUBSCRIPTION_REQUEST_SCHEMA: DecodingSchema<SubscribeToTaskRequest> =
  PROTO_CANCEL_TASK_REQUEST_SCHEMA;

/** Schema for the `TaskPushNotificationConfig` message, with the `name` from the server. */
export const PROTO_TASK_PUSH_CONFIG_SCHEMA: DecodingSchema<TaskPushNotificationConfig> =
  createConvertingSchema(
    createObjectSchema<{ name?: PushConfigIds; config: TaskPushNotificationConfig }>(
      { name: PUSH_CONFIG_RESOURCE_NAME_SCHEMA, config: required(PUSH_CONFIG_SCHEMA) },
      { wireNames: { config: ["pushNotificationConfig"] } },
    ),
    ({ name, config }) => ({ ...config, ...name }),
  );

/**
 * Schema for the push notification configuration in a create request. The schema ignores the `name` of the
 * configuration, because the server assigns the name.
 */
const PROTO_NEW_PUSH_CONFIG_SCHEMA: DecodingSchema<TaskPushNotificationConfig> = createConvertingSchema(
  createObjectSchema<{ config: TaskPushNotificationConfig }>(
    { config: required(PUSH_CONFIG_SCHEMA) },
    { wireNames: { config: ["pushNotificationConfig"] } },
  ),
  ({ config }) => config,
);

/** Schema for the `CreateTaskPushNotificationConfigRequest` message. */
export const PROTO_CREATE_PUSH_CONFIG_REQUEST_SCHEMA: DecodingSchema<CreateTaskPushNotificationConfigRequest> =
  createConvertingSchema(
    createObjectSchema<{ parent: string; configId?: string; config: TaskPushNotificationConfig }>({
      parent: required(TASK_RESOURCE_NAME_SCHEMA),
      configId: stringSchema,
      config: required(PROTO_NEW_PUSH_CONFIG_SCHEMA),
    }),
    ({ parent, configId, config }) => ({
      ...config,
      id: config.id ?? configId ?? DEFAULT_PUSH_CONFIG_ID,
      taskId: parent,
    }),
  );

/** Schema for the requests that get or delete a push notification configuration. */
export const PROTO_PUSH_CONFIG_REQUEST_SCHEMA: DecodingSchema<GetTaskPushNotificationConfigRequest> =
  createConvertingSchema(
    createObjectSchema<{ name: PushConfigIds }>({ name: required(PUSH_CONFIG_RESOURCE_NAME_SCHEMA) }),
    ({ name }) => ({ taskId: name.taskId, id: name.id }),
  );

/** Schema for the `ListTaskPushNotificationConfigRequest` message. */
export const PROTO_LIST_PUSH_CONFIGS_REQUEST_SCHEMA: DecodingSchema<ListTaskPushNotificationConfigsRequest> =
  createConvertingSchema(
    createObjectSchema<{ parent: string; pageSize?: number; pageToken?: string }>({
      parent: required(TASK_RESOURCE_NAME_SCHEMA),
      pageSize: int32Schema,
      pageToken: stringSchema,
    }),
    ({ parent, pageSize = 0, pageToken }) => ({
      taskId: parent,
      // The proto field has no presence: 0 counts as not set. Negative sizes are ignored too, because the
      // page size is only a hint.
      ...(pageSize > 0 ? { pageSize } : {}),
      ...(pageToken === undefined ? {} : { pageToken }),
    }),
  );

/** Schema for the `ListTaskPushNotificationConfigResponse` message. */
export const PROTO_LIST_PUSH_CONFIGS_RESPONSE_SCHEMA: DecodingSchema<ListTaskPushNotificationConfigsResponse> =
  createObjectSchema<ListTaskPushNotificationConfigsResponse>({
    configs: required(createListSchema(PROTO_TASK_PUSH_CONFIG_SCHEMA), []),
    nextPageToken: stringSchema,
  });
