import {
  type CancelTaskRequest,
  type CreateTaskPushNotificationConfigRequest,
  type DeleteTaskPushNotificationConfigRequest,
  type GetTaskPushNotificationConfigRequest,
  type GetTaskRequest,
  isObject,
  type JsonObject,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  type Part,
  type SendMessageRequest,
  type SendMessageResponse,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
  type TaskPushNotificationConfig,
} from "../../protocol/index.ts";
import { createConvertingSchema, createListSchema } from "../composite-schemas.ts";
import { createObjectSchema, defineOneofMember, optional, required } from "../object-schema.ts";
import { type DecodingContext, type DecodingSchema } from "../proto-json-schema.ts";
import { bytesSchema, stringSchema, structSchema, createMappedEnumSchema } from "../scalar-schemas.ts";
import { unwrapNonObjectData } from "./wrapped-non-object-data.ts";
import {
  DEFAULT_PUSH_CONFIG_ID,
  PUSH_CONFIG_SCHEMA,
  createSchemasCommonToJsonRpcAndProto,
} from "./common-schemas.ts";
import { HISTORY_LENGTH_SCHEMA } from "../v1/schema.ts";
import { invertTable, ROLE_NAMES, TASK_STATE_NAMES } from "./enum-names.ts";

// Schemas that decode the JSON-RPC types of A2A 0.3 into the 1.0 model.

type FileContent03 = { name?: string; mimeType?: string } & ({ bytes: string } | { uri: string });

type PartContent03 = { kind?: "text" | "file" | "data"; metadata?: JsonObject } & (
  | { text: string }
  | { file: FileContent03 }
  | { data: JsonObject }
);

const PART_SCHEMA: DecodingSchema<Part> = createConvertingSchema(
  createObjectSchema<PartContent03>({
    // `kind` is optional when decoding, because the content member also identifies the kind.
    kind: createMappedEnumSchema({ text: "text", file: "file", data: "data" }),
    text: defineOneofMember(stringSchema),
    file: defineOneofMember(
      createObjectSchema<FileContent03>({
        bytes: defineOneofMember(bytesSchema),
        uri: defineOneofMember(stringSchema),
        name: stringSchema,
        mimeType: stringSchema,
      }),
    ),
    data: defineOneofMember(structSchema),
    metadata: structSchema,
  }),
  fromPart03,
);

function fromPart03(part: PartContent03, at: DecodingContext): Part | undefined {
  const { kind, metadata } = part;
  if (kind !== undefined && !(kind in part))
    return at.addViolation(`is of kind ${kind} but has no member ${kind}`);
  const metadataMember = metadata === undefined ? {} : { metadata };
  if ("text" in part) return { text: part.text, ...metadataMember };
  if ("data" in part) return unwrapNonObjectData(part.data, metadata);
  if (!("file" in part)) return metadataMember as Part;
  const { file } = part;
  const content = "bytes" in file ? { raw: file.bytes } : { url: file.uri };
  return {
    ...content,
    ...metadataMember,
    ...(file.name === undefined ? {} : { filename: file.name }),
    ...(file.mimeType === undefined ? {} : { mediaType: file.mimeType }),
  };
}

const COMMON_SCHEMAS = createSchemasCommonToJsonRpcAndProto({
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

/** Schema for the parameters of `message/send` and `message/stream`. */
export const SEND_MESSAGE_PARAMS_SCHEMA: DecodingSchema<SendMessageRequest> = COMMON_SCHEMAS.sendMessage;

/** Schema for a 0.3 task. */
export const TASK_SCHEMA: DecodingSchema<Task> = COMMON_SCHEMAS.task;

/**
 * Returns the `kind` of an event. If `kind` is missing, the function infers the `kind` from the members of
 * the event.
 */
function inferKind(json: object): unknown {
  if ("kind" in json) return json.kind;
  if ("artifact" in json) return "artifact-update";
  if ("messageId" in json) return "message";
  return "taskId" in json ? "status-update" : "task";
}

/** Schema for one event of a 0.3 stream. */
export const STREAM_RESPONSE_SCHEMA: DecodingSchema<StreamResponse> = {
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

function wrapEvent<T>(value: T | undefined, wrap: (value: T) => StreamResponse): StreamResponse | undefined {
  return value === undefined ? undefined : wrap(value);
}

/** Schema for the result of `message/send`, which is a task or a message. */
export const SEND_MESSAGE_RESPONSE_SCHEMA: DecodingSchema<SendMessageResponse> = createConvertingSchema(
  STREAM_RESPONSE_SCHEMA,
  (event, at) =>
    "task" in event || "message" in event ? event : at.addViolation("must be a task or a message"),
);

/** Schema for the parameters of `tasks/get`. */
export const GET_TASK_PARAMS_SCHEMA: DecodingSchema<GetTaskRequest> = createObjectSchema<
  Omit<GetTaskRequest, "tenant">
>({
  id: required(stringSchema),
  historyLength: optional(HISTORY_LENGTH_SCHEMA),
});

/** Schema for the parameters of `tasks/cancel`. */
export const CANCEL_TASK_PARAMS_SCHEMA: DecodingSchema<CancelTaskRequest> = createObjectSchema<
  Omit<CancelTaskRequest, "tenant">
>({
  id: required(stringSchema),
  metadata: structSchema,
});

/** Schema for the parameters of `tasks/resubscribe`. */
export const RESUBSCRIBE_PARAMS_SCHEMA: DecodingSchema<SubscribeToTaskRequest> = createObjectSchema<{
  id: string;
}>({
  id: required(stringSchema),
});

type TaskPushConfigParams = { taskId: string; pushNotificationConfig: TaskPushNotificationConfig };

/** Schema for a push notification configuration together with its task id. */
export const TASK_PUSH_CONFIG_SCHEMA: DecodingSchema<CreateTaskPushNotificationConfigRequest> =
  createConvertingSchema(
    createObjectSchema<TaskPushConfigParams>({
      taskId: required(stringSchema),
      pushNotificationConfig: required(PUSH_CONFIG_SCHEMA),
    }),
    ({ taskId, pushNotificationConfig }) => ({ ...pushNotificationConfig, taskId }),
  );

/** Schema for the parameters of `tasks/pushNotificationConfig/set`. */
export const SET_PUSH_CONFIG_PARAMS_SCHEMA: DecodingSchema<CreateTaskPushNotificationConfigRequest> =
  createConvertingSchema(TASK_PUSH_CONFIG_SCHEMA, (config) => ({
    ...config,
    id: config.id ?? DEFAULT_PUSH_CONFIG_ID,
  }));

/**
 * Schema for the parameters of `tasks/pushNotificationConfig/get`. A missing configuration id decodes to an
 * empty string, which selects the first configuration of the task.
 */
export const GET_PUSH_CONFIG_PARAMS_SCHEMA: DecodingSchema<GetTaskPushNotificationConfigRequest> =
  createConvertingSchema(
    createObjectSchema<{ taskId: string; id?: string }>(
      { taskId: required(stringSchema), id: stringSchema },
      { wireNames: { taskId: ["id"], id: ["pushNotificationConfigId"] } },
    ),
    ({ taskId, id = "" }) => ({ taskId, id }),
  );

/** Schema for the parameters of `tasks/pushNotificationConfig/delete`. */
export const DELETE_PUSH_CONFIG_PARAMS_SCHEMA: DecodingSchema<DeleteTaskPushNotificationConfigRequest> =
  createObjectSchema<{
    taskId: string;
    id: string;
  }>(
    { taskId: required(stringSchema), id: required(stringSchema) },
    { wireNames: { taskId: ["id"], id: ["pushNotificationConfigId"] } },
  );

/**
 * Maximum number of push notification configurations per task, and page size of the list. One page
 * contains all configurations of a task, because 0.3 has no pagination.
 */
const PUSH_CONFIG_LIST_PAGE_SIZE = 100;

/** Schema for the parameters of `tasks/pushNotificationConfig/list`. */
export const LIST_PUSH_CONFIGS_PARAMS_SCHEMA: DecodingSchema<ListTaskPushNotificationConfigsRequest> =
  createConvertingSchema(
    createObjectSchema<{ taskId: string }>(
      { taskId: required(stringSchema) },
      { wireNames: { taskId: ["id"] } },
    ),
    ({ taskId }) => ({ taskId, pageSize: PUSH_CONFIG_LIST_PAGE_SIZE }),
  );

const TASK_PUSH_CONFIG_LIST_SCHEMA = createListSchema(TASK_PUSH_CONFIG_SCHEMA);

/**
 * Schema for the result of `tasks/pushNotificationConfig/list`. The Go server returns `null` instead of an
 * empty list.
 */
export const LIST_PUSH_CONFIGS_RESULT_SCHEMA: DecodingSchema<ListTaskPushNotificationConfigsResponse> =
  createConvertingSchema(
    { decode: (json, at) => (json === null ? [] : TASK_PUSH_CONFIG_LIST_SCHEMA.decode(json, at)) },
    (configs) => ({ configs }),
  );
