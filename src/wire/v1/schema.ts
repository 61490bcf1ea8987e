import type {
  Artifact,
  AuthenticationInfo,
  CancelTaskRequest,
  CreateTaskPushNotificationConfigRequest,
  DeleteTaskPushNotificationConfigRequest,
  Empty,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  Part,
  Role,
  SendMessageConfiguration,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskArtifactUpdateEvent,
  TaskPushNotificationConfig,
  TaskState,
  TaskStatus,
  TaskStatusUpdateEvent,
} from "../../protocol/index.ts";
import { createCheckedSchema, createListSchema } from "../composite-schemas.ts";
import {
  type FieldSchemas,
  createObjectSchema,
  defineOneofMember,
  optional,
  required,
} from "../object-schema.ts";
import { type DecodingSchema } from "../proto-json-schema.ts";
import {
  boolSchema,
  bytesSchema,
  createEnumSchema,
  int32Schema,
  stringSchema,
  structSchema,
  timestampSchema,
  valueSchema,
} from "../scalar-schemas.ts";

// Schemas of the messages of `a2a.proto` 1.0 (package lf.a2a.v1), except those of the agent card.

/** Schema for the role of a message. */
export const ROLE_SCHEMA: DecodingSchema<Role> = createEnumSchema([
  "ROLE_UNSPECIFIED",
  "ROLE_USER",
  "ROLE_AGENT",
]);

const TASK_STATE_SCHEMA: DecodingSchema<TaskState> = createEnumSchema([
  "TASK_STATE_UNSPECIFIED",
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_AUTH_REQUIRED",
]);

const PART_SCHEMA: DecodingSchema<Part> = createObjectSchema<Part>({
  text: defineOneofMember(stringSchema),
  raw: defineOneofMember(bytesSchema),
  url: defineOneofMember(stringSchema),
  data: defineOneofMember(valueSchema),
  metadata: structSchema,
  filename: stringSchema,
  mediaType: stringSchema,
});

const MESSAGE_FIELD_SCHEMAS: FieldSchemas<Message> = {
  messageId: required(stringSchema, ""),
  contextId: stringSchema,
  taskId: stringSchema,
  role: required(ROLE_SCHEMA, "ROLE_AGENT"),
  parts: required(createListSchema(PART_SCHEMA), []),
  metadata: structSchema,
  extensions: createListSchema(stringSchema),
  referenceTaskIds: createListSchema(stringSchema),
};

const MESSAGE_SCHEMA: DecodingSchema<Message> = createObjectSchema<Message>(MESSAGE_FIELD_SCHEMAS);

/**
 * Schema for a message that a client sends. The only role that a client may set in a message is
 * `ROLE_USER`.
 */
const USER_MESSAGE_SCHEMA: DecodingSchema<Message> = createObjectSchema<Message>({
  ...MESSAGE_FIELD_SCHEMAS,
  role: required(
    createCheckedSchema(ROLE_SCHEMA, (role) =>
      role === "ROLE_USER" ? undefined : `must be ROLE_USER in a request; ${role} is for responses`,
    ),
  ),
});

const ARTIFACT_SCHEMA: DecodingSchema<Artifact> = createObjectSchema<Artifact>({
  artifactId: required(stringSchema, ""),
  name: stringSchema,
  description: stringSchema,
  parts: required(createListSchema(PART_SCHEMA), []),
  metadata: structSchema,
  extensions: createListSchema(stringSchema),
});

/**
 * Schema for a task state. In tolerant mode, an unknown task state decodes to `TASK_STATE_UNSPECIFIED`,
 * which is neither terminal nor interrupted.
 */
const TASK_STATE_OR_UNSPECIFIED_SCHEMA: DecodingSchema<TaskState> = {
  decode: (json, at) =>
    TASK_STATE_SCHEMA.decode(json, at) ?? (at.isStrict ? undefined : "TASK_STATE_UNSPECIFIED"),
};

const TASK_STATUS_SCHEMA: DecodingSchema<TaskStatus> = createObjectSchema<TaskStatus>({
  state: required(TASK_STATE_OR_UNSPECIFIED_SCHEMA, "TASK_STATE_UNSPECIFIED"),
  message: MESSAGE_SCHEMA,
  timestamp: timestampSchema,
});

/** Schema for a task. */
export const TASK_SCHEMA: DecodingSchema<Task> = createObjectSchema<Task>({
  id: required(stringSchema),
  contextId: required(stringSchema, ""),
  status: required(TASK_STATUS_SCHEMA),
  artifacts: createListSchema(ARTIFACT_SCHEMA),
  history: createListSchema(MESSAGE_SCHEMA),
  metadata: structSchema,
});

const STATUS_UPDATE_SCHEMA: DecodingSchema<TaskStatusUpdateEvent> = createObjectSchema<TaskStatusUpdateEvent>(
  {
    taskId: required(stringSchema, ""),
    contextId: required(stringSchema, ""),
    status: required(TASK_STATUS_SCHEMA),
    metadata: structSchema,
  },
);

const ARTIFACT_UPDATE_SCHEMA: DecodingSchema<TaskArtifactUpdateEvent> =
  createObjectSchema<TaskArtifactUpdateEvent>({
    taskId: required(stringSchema, ""),
    contextId: required(stringSchema, ""),
    artifact: required(ARTIFACT_SCHEMA),
    append: boolSchema,
    lastChunk: boolSchema,
    metadata: structSchema,
  });

/** Schema for one event of a stream. */
export const STREAM_RESPONSE_SCHEMA: DecodingSchema<StreamResponse> = createObjectSchema<StreamResponse>(
  {
    task: defineOneofMember(TASK_SCHEMA),
    message: defineOneofMember(MESSAGE_SCHEMA),
    statusUpdate: defineOneofMember(STATUS_UPDATE_SCHEMA),
    artifactUpdate: defineOneofMember(ARTIFACT_UPDATE_SCHEMA),
  },
  { requiresOneof: true },
);

/** Schema for the result of `SendMessage`, which is a task or a message. */
export const SEND_MESSAGE_RESPONSE_SCHEMA: DecodingSchema<SendMessageResponse> =
  createObjectSchema<SendMessageResponse>(
    { task: defineOneofMember(TASK_SCHEMA), message: defineOneofMember(MESSAGE_SCHEMA) },
    { requiresOneof: true },
  );

/** Schema for the maximum number of history messages in a response. */
export const HISTORY_LENGTH_SCHEMA: DecodingSchema<number> = createCheckedSchema(int32Schema, (length) =>
  length < 0 ? `must be 0 or more, not ${length}; leave it out for the entire history` : undefined,
);

const AUTHENTICATION_INFO_SCHEMA: DecodingSchema<AuthenticationInfo> = createObjectSchema<AuthenticationInfo>(
  {
    scheme: required(stringSchema, ""),
    credentials: stringSchema,
  },
);

const PUSH_CONFIG_FIELD_SCHEMAS: FieldSchemas<TaskPushNotificationConfig> = {
  tenant: stringSchema,
  id: stringSchema,
  taskId: stringSchema,
  url: required(stringSchema),
  token: stringSchema,
  authentication: AUTHENTICATION_INFO_SCHEMA,
};

/** Schema for a push notification configuration. */
export const TASK_PUSH_CONFIG_SCHEMA: DecodingSchema<TaskPushNotificationConfig> =
  createObjectSchema<TaskPushNotificationConfig>(PUSH_CONFIG_FIELD_SCHEMAS);

/** Schema for the parameters of `CreateTaskPushNotificationConfig`. */
export const CREATE_PUSH_CONFIG_REQUEST_SCHEMA: DecodingSchema<CreateTaskPushNotificationConfigRequest> =
  createObjectSchema<CreateTaskPushNotificationConfigRequest>({
    ...PUSH_CONFIG_FIELD_SCHEMAS,
    taskId: required(stringSchema),
  });

/** Schema for the parameters of `GetTaskPushNotificationConfig`. */
export const GET_PUSH_CONFIG_REQUEST_SCHEMA: DecodingSchema<GetTaskPushNotificationConfigRequest> =
  createObjectSchema<GetTaskPushNotificationConfigRequest>({
    tenant: stringSchema,
    taskId: required(stringSchema),
    id: required(stringSchema),
  });

/** Schema for the parameters of `DeleteTaskPushNotificationConfig`. */
export const DELETE_PUSH_CONFIG_REQUEST_SCHEMA: DecodingSchema<DeleteTaskPushNotificationConfigRequest> =
  GET_PUSH_CONFIG_REQUEST_SCHEMA;

/** Schema for the result of `ListTaskPushNotificationConfigs`. */
export const LIST_PUSH_CONFIGS_RESPONSE_SCHEMA: DecodingSchema<ListTaskPushNotificationConfigsResponse> =
  createObjectSchema<ListTaskPushNotificationConfigsResponse>({
    configs: required(createListSchema(TASK_PUSH_CONFIG_SCHEMA), []),
    nextPageToken: stringSchema,
  });

/**
 * Schema for an empty result. The schema accepts any value, because some servers return `null` or an empty
 * body.
 */
export const ANY_TO_EMPTY_OBJECT_SCHEMA: DecodingSchema<Empty> = { decode: () => ({}), isNullable: true };

const SEND_MESSAGE_CONFIGURATION_SCHEMA: DecodingSchema<SendMessageConfiguration> =
  createObjectSchema<SendMessageConfiguration>({
    acceptedOutputModes: createListSchema(stringSchema),
    taskPushNotificationConfig: TASK_PUSH_CONFIG_SCHEMA,
    historyLength: optional(HISTORY_LENGTH_SCHEMA),
    returnImmediately: boolSchema,
  });

/** Schema for the parameters of `SendMessage` and `SendStreamingMessage`. */
export const SEND_MESSAGE_REQUEST_SCHEMA: DecodingSchema<SendMessageRequest> =
  createObjectSchema<SendMessageRequest>({
    tenant: stringSchema,
    message: required(USER_MESSAGE_SCHEMA),
    configuration: SEND_MESSAGE_CONFIGURATION_SCHEMA,
    metadata: structSchema,
  });

/** Schema for the parameters of `GetTask`. */
export const GET_TASK_REQUEST_SCHEMA: DecodingSchema<GetTaskRequest> = createObjectSchema<GetTaskRequest>({
  tenant: stringSchema,
  id: required(stringSchema),
  historyLength: optional(HISTORY_LENGTH_SCHEMA),
});

const MAX_PAGE_SIZE = 100;

const PAGE_SIZE_SCHEMA: DecodingSchema<number> = createCheckedSchema(int32Schema, (size) =>
  size < 1 || size > MAX_PAGE_SIZE ? `must be 1 to ${MAX_PAGE_SIZE}, not ${size}` : undefined,
);

/** Schema for the parameters of `ListTaskPushNotificationConfigs`. */
export const LIST_PUSH_CONFIGS_REQUEST_SCHEMA: DecodingSchema<ListTaskPushNotificationConfigsRequest> =
  createObjectSchema<ListTaskPushNotificationConfigsRequest>({
    tenant: stringSchema,
    taskId: required(stringSchema),
    pageSize: optional(PAGE_SIZE_SCHEMA),
    pageToken: stringSchema,
  });

/** Schema for the parameters of `ListTasks`. */
export const LIST_TASKS_REQUEST_SCHEMA: DecodingSchema<ListTasksRequest> =
  createObjectSchema<ListTasksRequest>({
    tenant: stringSchema,
    contextId: stringSchema,
    status: TASK_STATE_SCHEMA,
    pageSize: optional(PAGE_SIZE_SCHEMA),
    pageToken: stringSchema,
    historyLength: optional(HISTORY_LENGTH_SCHEMA),
    statusTimestampAfter: timestampSchema,
    includeArtifacts: optional(boolSchema),
  });

/** Schema for the result of `ListTasks`. */
export const LIST_TASKS_RESPONSE_SCHEMA: DecodingSchema<ListTasksResponse> =
  createObjectSchema<ListTasksResponse>({
    tasks: required(createListSchema(TASK_SCHEMA), []),
    nextPageToken: required(stringSchema, ""),
    pageSize: required(int32Schema, 0),
    totalSize: required(int32Schema, 0),
  });

/** Schema for the parameters of `CancelTask`. */
export const CANCEL_TASK_REQUEST_SCHEMA: DecodingSchema<CancelTaskRequest> =
  createObjectSchema<CancelTaskRequest>({
    tenant: stringSchema,
    id: required(stringSchema),
    metadata: structSchema,
  });

/** Schema for the parameters of `SubscribeToTask`. */
export const SUBSCRIBE_TO_TASK_REQUEST_SCHEMA: DecodingSchema<SubscribeToTaskRequest> =
  createObjectSchema<SubscribeToTaskRequest>({
    tenant: stringSchema,
    id: required(stringSchema),
  });

/** Schema for the parameters of `GetExtendedAgentCard`. */
export const GET_EXTENDED_AGENT_CARD_REQUEST_SCHEMA: DecodingSchema<GetExtendedAgentCardRequest> =
  createObjectSchema<GetExtendedAgentCardRequest>({ tenant: stringSchema });
