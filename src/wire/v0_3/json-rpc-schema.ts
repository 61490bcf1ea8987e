import type {
  CancelTaskRequest,
  CreateTaskPushNotificationConfigRequest,
  DeleteTaskPushNotificationConfigRequest,
  Empty,
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
} from "../../protocol/index.ts";
import { isObject } from "../error-details.ts";
import {
  withConversion,
  type DecodingContext,
  createListSchema,
  createMessageSchema,
  oneof,
  optional,
  required,
  type Schema,
} from "../proto-json-schema.ts";
import { bytesSchema, stringSchema, structSchema, createMappedEnumSchema } from "../scalar-schemas.ts";
import { unwrapData } from "./wrapped-data.ts";
import {
  DEFAULT_PUSH_CONFIG_ID,
  HISTORY_LENGTH_SCHEMA,
  PUSH_CONFIG_SCHEMA,
  createCommonSchemas,
} from "./common-schemas.ts";
import { invertTable, ROLE_NAMES, TASK_STATE_NAMES } from "./enum-names.ts";

// The JSON-RPC types of A2A 0.3, read into 1.0.

type FileContent03 = { name?: string; mimeType?: string } & ({ bytes: string } | { uri: string });

type PartContent03 = { kind?: "text" | "file" | "data"; metadata?: JsonObject } & (
  | { text: string }
  | { file: FileContent03 }
  | { data: JsonObject }
);

const PART_SCHEMA: Schema<Part> = withConversion(
  createMessageSchema<PartContent03>({
    // Part of the type, but the key of the content says it as well.
    kind: createMappedEnumSchema({ text: "text", file: "file", data: "data" }),
    text: oneof(stringSchema),
    file: oneof(
      createMessageSchema<FileContent03>({
        bytes: oneof(bytesSchema),
        uri: oneof(stringSchema),
        name: stringSchema,
        mimeType: stringSchema,
      }),
    ),
    data: oneof(structSchema),
    metadata: structSchema,
  }),
  fromPart03,
);

function fromPart03(part: PartContent03, at: DecodingContext): Part | undefined {
  const { kind, metadata } = part;
  if (kind !== undefined && !(kind in part)) return at.addViolation(`is of kind ${kind} and has no ${kind}`);
  const about = metadata === undefined ? {} : { metadata };
  if ("text" in part) return { text: part.text, ...about };
  if ("data" in part) return unwrapData(part.data, metadata);
  if (!("file" in part)) return about as Part;
  const { file } = part;
  const content = "bytes" in file ? { raw: file.bytes } : { url: file.uri };
  return {
    ...content,
    ...about,
    ...(file.name === undefined ? {} : { filename: file.name }),
    ...(file.mimeType === undefined ? {} : { mediaType: file.mimeType }),
  };
}

const COMMON_SCHEMAS = createCommonSchemas({
  partSchema: PART_SCHEMA,
  roleSchema: createMappedEnumSchema(invertTable(ROLE_NAMES)),
  stateSchema: createMappedEnumSchema(invertTable(TASK_STATE_NAMES)),
  enumNames: { user: "user", agent: "agent", working: "working" },
  historyLengthSchema: HISTORY_LENGTH_SCHEMA,
  defaultBlocking: true,
  wireNames: {
    parts: ["parts"],
    status: ["message"],
    request: ["message"],
    pushConfig: ["pushNotificationConfig"],
  },
});

export const SEND_MESSAGE_PARAMS_SCHEMA: Schema<SendMessageRequest> = COMMON_SCHEMAS.sendMessage;

export const TASK_SCHEMA: Schema<Task> = COMMON_SCHEMAS.task;

/** What an object without a `kind` must be, by what it has. */
function inferKind(json: object): unknown {
  if ("kind" in json) return json.kind;
  if ("artifact" in json) return "artifact-update";
  if ("messageId" in json) return "message";
  return "taskId" in json ? "status-update" : "task";
}

export const STREAM_RESPONSE_SCHEMA: Schema<StreamResponse> = {
  decode(json, at): StreamResponse | undefined {
    const kind = isObject(json) ? inferKind(json) : undefined;
    if (kind === "message")
      return wrapEvent(COMMON_SCHEMAS.message.decode(json, at), (message) => ({ message }));
    if (kind === "status-update")
      return wrapEvent(COMMON_SCHEMAS.statusUpdate.decode(json, at), (statusUpdate) => ({ statusUpdate }));
    if (kind === "artifact-update")
      return wrapEvent(COMMON_SCHEMAS.artifactUpdate.decode(json, at), (artifactUpdate) => ({
        artifactUpdate,
      }));
    return wrapEvent(COMMON_SCHEMAS.task.decode(json, at), (task) => ({ task }));
  },
};

function wrapEvent<T>(
  value: T | undefined,
  wrapped: (value: T) => StreamResponse,
): StreamResponse | undefined {
  return value === undefined ? undefined : wrapped(value);
}

export const SEND_MESSAGE_RESPONSE_SCHEMA: Schema<SendMessageResponse> = withConversion(
  STREAM_RESPONSE_SCHEMA,
  (event, at) =>
    "task" in event || "message" in event ? event : at.addViolation("must be a task or a message"),
);

export const GET_TASK_PARAMS_SCHEMA: Schema<GetTaskRequest> = createMessageSchema<
  Omit<GetTaskRequest, "tenant">
>({
  id: required(stringSchema),
  historyLength: optional(HISTORY_LENGTH_SCHEMA),
});

export const CANCEL_TASK_PARAMS_SCHEMA: Schema<CancelTaskRequest> = createMessageSchema<
  Omit<CancelTaskRequest, "tenant">
>({
  id: required(stringSchema),
  metadata: structSchema,
});

export const RESUBSCRIBE_PARAMS_SCHEMA: Schema<SubscribeToTaskRequest> = createMessageSchema<{ id: string }>({
  id: required(stringSchema),
});

export const EMPTY_SCHEMA: Schema<Empty> = { decode: () => ({}), isNullable: true };

type TaskPushConfigParams = { taskId: string; pushNotificationConfig: TaskPushNotificationConfig };

export const TASK_PUSH_CONFIG_SCHEMA: Schema<CreateTaskPushNotificationConfigRequest> = withConversion(
  createMessageSchema<TaskPushConfigParams>({
    taskId: required(stringSchema),
    pushNotificationConfig: required(PUSH_CONFIG_SCHEMA),
  }),
  ({ taskId, pushNotificationConfig }) => ({ ...pushNotificationConfig, taskId }),
);

export const SET_PUSH_CONFIG_PARAMS_SCHEMA: Schema<CreateTaskPushNotificationConfigRequest> = withConversion(
  TASK_PUSH_CONFIG_SCHEMA,
  (config) => ({ ...config, id: config.id ?? DEFAULT_PUSH_CONFIG_ID }),
);

/** Without the configuration's id, which comes out as "", the task's first one is meant. */
export const GET_PUSH_CONFIG_PARAMS_SCHEMA: Schema<GetTaskPushNotificationConfigRequest> = withConversion(
  createMessageSchema<{ taskId: string; id?: string }>(
    { taskId: required(stringSchema), id: stringSchema },
    { wireNames: { taskId: ["id"], id: ["pushNotificationConfigId"] } },
  ),
  ({ taskId, id = "" }) => ({ taskId, id }),
);

export const DELETE_PUSH_CONFIG_PARAMS_SCHEMA: Schema<DeleteTaskPushNotificationConfigRequest> =
  createMessageSchema<{
    taskId: string;
    id: string;
  }>(
    { taskId: required(stringSchema), id: required(stringSchema) },
    { wireNames: { taskId: ["id"], id: ["pushNotificationConfigId"] } },
  );

/** 0.3 has no pages; a task has no more configurations than one may have. */
const MAX_PUSH_CONFIGS = 100;

export const LIST_PUSH_CONFIGS_PARAMS_SCHEMA: Schema<ListTaskPushNotificationConfigsRequest> = withConversion(
  createMessageSchema<{ taskId: string }>(
    { taskId: required(stringSchema) },
    { wireNames: { taskId: ["id"] } },
  ),
  ({ taskId }) => ({ taskId, pageSize: MAX_PUSH_CONFIGS }),
);

const TASK_PUSH_CONFIG_LIST_SCHEMA = createListSchema(TASK_PUSH_CONFIG_SCHEMA);

/** Go's server answers null where there are none. */
export const LIST_PUSH_CONFIGS_RESULT_SCHEMA: Schema<ListTaskPushNotificationConfigsResponse> =
  withConversion(
    { decode: (json, at) => (json === null ? [] : TASK_PUSH_CONFIG_LIST_SCHEMA.decode(json, at)) },
    (configs) => ({ configs }),
  );
