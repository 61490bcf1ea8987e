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
import { checked, type Fields, list, message, oneof, optional, required, type Type } from "../proto-json.ts";
import { bool, bytes, enumeration, int32, string, struct, timestamp, value } from "../scalars.ts";

// The messages of `a2a.proto` 1.0 (package lf.a2a.v1), but for the card's.

const ROLE: Type<Role> = enumeration(["ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT"]);

const TASK_STATE: Type<TaskState> = enumeration([
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

const PART: Type<Part> = message<Part>({
  text: oneof(string),
  raw: oneof(bytes),
  url: oneof(string),
  data: oneof(value),
  metadata: struct,
  filename: string,
  mediaType: string,
});

const MESSAGE_FIELDS: Fields<Message> = {
  messageId: required(string, ""),
  contextId: string,
  taskId: string,
  role: required(ROLE, "ROLE_AGENT"),
  parts: required(list(PART), []),
  metadata: struct,
  extensions: list(string),
  referenceTaskIds: list(string),
};

const MESSAGE: Type<Message> = message<Message>(MESSAGE_FIELDS);

/** A message as a client sends it: who sends it is not up to the sender. */
const USER_MESSAGE: Type<Message> = message<Message>({
  ...MESSAGE_FIELDS,
  role: required(
    checked(ROLE, (role) =>
      role === "ROLE_USER" ? undefined : `must be ROLE_USER in a request; ${role} is for answers`,
    ),
  ),
});

const ARTIFACT: Type<Artifact> = message<Artifact>({
  artifactId: required(string, ""),
  name: string,
  description: string,
  parts: required(list(PART), []),
  metadata: struct,
  extensions: list(string),
});

/** One that we do not know is neither an end nor a question, as far as we know. */
const STATE_OF_TASK: Type<TaskState> = {
  decode: (json, at) => TASK_STATE.decode(json, at) ?? (at.strict ? undefined : "TASK_STATE_UNSPECIFIED"),
};

const TASK_STATUS: Type<TaskStatus> = message<TaskStatus>({
  state: required(STATE_OF_TASK, "TASK_STATE_UNSPECIFIED"),
  message: MESSAGE,
  timestamp,
});

export const TASK: Type<Task> = message<Task>({
  id: required(string),
  contextId: required(string, ""),
  status: required(TASK_STATUS),
  artifacts: list(ARTIFACT),
  history: list(MESSAGE),
  metadata: struct,
});

const STATUS_UPDATE: Type<TaskStatusUpdateEvent> = message<TaskStatusUpdateEvent>({
  taskId: required(string, ""),
  contextId: required(string, ""),
  status: required(TASK_STATUS),
  metadata: struct,
});

const ARTIFACT_UPDATE: Type<TaskArtifactUpdateEvent> = message<TaskArtifactUpdateEvent>({
  taskId: required(string, ""),
  contextId: required(string, ""),
  artifact: required(ARTIFACT),
  append: bool,
  lastChunk: bool,
  metadata: struct,
});

export const STREAM_RESPONSE: Type<StreamResponse> = message<StreamResponse>(
  {
    task: oneof(TASK),
    message: oneof(MESSAGE),
    statusUpdate: oneof(STATUS_UPDATE),
    artifactUpdate: oneof(ARTIFACT_UPDATE),
  },
  { always: true },
);

export const SEND_MESSAGE_RESPONSE: Type<SendMessageResponse> = message<SendMessageResponse>(
  { task: oneof(TASK), message: oneof(MESSAGE) },
  { always: true },
);

const HISTORY_LENGTH: Type<number> = checked(int32, (length) =>
  length < 0 ? `must be 0 or more, not ${length}; leave it out for the whole history` : undefined,
);

const AUTHENTICATION_INFO: Type<AuthenticationInfo> = message<AuthenticationInfo>({
  scheme: required(string, ""),
  credentials: string,
});

const PUSH_CONFIG_FIELDS: Fields<TaskPushNotificationConfig> = {
  tenant: string,
  id: string,
  taskId: string,
  url: required(string),
  token: string,
  authentication: AUTHENTICATION_INFO,
};

export const TASK_PUSH_NOTIFICATION_CONFIG: Type<TaskPushNotificationConfig> =
  message<TaskPushNotificationConfig>(PUSH_CONFIG_FIELDS);

export const CREATE_PUSH_CONFIG_REQUEST: Type<CreateTaskPushNotificationConfigRequest> =
  message<CreateTaskPushNotificationConfigRequest>({ ...PUSH_CONFIG_FIELDS, taskId: required(string) });

export const GET_PUSH_CONFIG_REQUEST: Type<GetTaskPushNotificationConfigRequest> =
  message<GetTaskPushNotificationConfigRequest>({
    tenant: string,
    taskId: required(string),
    id: required(string),
  });

export const DELETE_PUSH_CONFIG_REQUEST: Type<DeleteTaskPushNotificationConfigRequest> =
  GET_PUSH_CONFIG_REQUEST;

export const LIST_PUSH_CONFIGS_RESPONSE: Type<ListTaskPushNotificationConfigsResponse> =
  message<ListTaskPushNotificationConfigsResponse>({
    configs: required(list(TASK_PUSH_NOTIFICATION_CONFIG), []),
    nextPageToken: string,
  });

/** Some servers answer `null`, or no body at all. */
export const EMPTY: Type<Empty> = { decode: () => ({}), nullable: true };

const SEND_MESSAGE_CONFIGURATION: Type<SendMessageConfiguration> = message<SendMessageConfiguration>({
  acceptedOutputModes: list(string),
  taskPushNotificationConfig: TASK_PUSH_NOTIFICATION_CONFIG,
  historyLength: optional(HISTORY_LENGTH),
  returnImmediately: bool,
});

export const SEND_MESSAGE_REQUEST: Type<SendMessageRequest> = message<SendMessageRequest>({
  tenant: string,
  message: required(USER_MESSAGE),
  configuration: SEND_MESSAGE_CONFIGURATION,
  metadata: struct,
});

export const GET_TASK_REQUEST: Type<GetTaskRequest> = message<GetTaskRequest>({
  tenant: string,
  id: required(string),
  historyLength: optional(HISTORY_LENGTH),
});

const MAX_PAGE_SIZE = 100;

const PAGE_SIZE: Type<number> = checked(int32, (size) =>
  size < 1 || size > MAX_PAGE_SIZE ? `must be 1 to ${MAX_PAGE_SIZE}, not ${size}` : undefined,
);

export const LIST_PUSH_CONFIGS_REQUEST: Type<ListTaskPushNotificationConfigsRequest> =
  message<ListTaskPushNotificationConfigsRequest>({
    tenant: string,
    taskId: required(string),
    pageSize: optional(PAGE_SIZE),
    pageToken: string,
  });

export const LIST_TASKS_REQUEST: Type<ListTasksRequest> = message<ListTasksRequest>({
  tenant: string,
  contextId: string,
  status: TASK_STATE,
  pageSize: optional(PAGE_SIZE),
  pageToken: string,
  historyLength: optional(HISTORY_LENGTH),
  statusTimestampAfter: timestamp,
  includeArtifacts: optional(bool),
});

export const LIST_TASKS_RESPONSE: Type<ListTasksResponse> = message<ListTasksResponse>({
  tasks: required(list(TASK), []),
  nextPageToken: required(string, ""),
  pageSize: required(int32, 0),
  totalSize: required(int32, 0),
});

export const CANCEL_TASK_REQUEST: Type<CancelTaskRequest> = message<CancelTaskRequest>({
  tenant: string,
  id: required(string),
  metadata: struct,
});

export const SUBSCRIBE_TO_TASK_REQUEST: Type<SubscribeToTaskRequest> = message<SubscribeToTaskRequest>({
  tenant: string,
  id: required(string),
});

export const GET_EXTENDED_AGENT_CARD_REQUEST: Type<GetExtendedAgentCardRequest> =
  message<GetExtendedAgentCardRequest>({ tenant: string });
