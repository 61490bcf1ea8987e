import type {
  CancelTaskRequest,
  CreateTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  JsonObject,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  Part,
  Role,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
  TaskState,
} from "../../protocol/index.ts";
import { converted, list, message, oneof, required, type Type } from "../proto-json.ts";
import { bytes, enumeration, int32, string, struct } from "../scalars.ts";
import { CONFIG_NAME, type ConfigName, TASK_NAME } from "./resource-name.ts";
import { DEFAULT_CONFIG, HISTORY_LENGTH, PUSH_CONFIG, vocabularyOf } from "./vocabulary.ts";

// The messages of 0.3's `a2a.proto` (package a2a.v1) as ProtoJSON, read into 1.0.

const ROLE: Type<Role> = enumeration(["ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT"]);

type State = Exclude<TaskState, "TASK_STATE_CANCELED"> | "TASK_STATE_CANCELLED";

const TASK_STATE: Type<TaskState> = converted(
  enumeration<State>([
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

type FileContent = { mimeType?: string } & ({ fileWithUri: string } | { fileWithBytes: string });

type PartContent = { text: string } | { file: FileContent } | { data: { data: JsonObject } };

const PART: Type<Part> = converted(
  message<PartContent>({
    text: oneof(string),
    file: oneof(
      message<FileContent>({ fileWithUri: oneof(string), fileWithBytes: oneof(bytes), mimeType: string }),
    ),
    data: oneof(message<{ data: JsonObject }>({ data: required(struct, {}) })),
  }),
  (part): Part => {
    if ("text" in part) return { text: part.text };
    if ("data" in part) return { data: part.data.data };
    if (!("file" in part)) return part;
    const { mimeType: mediaType } = part.file;
    const content =
      "fileWithBytes" in part.file ? { raw: part.file.fileWithBytes } : { url: part.file.fileWithUri };
    return mediaType === undefined ? content : { ...content, mediaType };
  },
);

const VOCABULARY = vocabularyOf({
  part: PART,
  role: ROLE,
  state: TASK_STATE,
  words: { user: "ROLE_USER", agent: "ROLE_AGENT", working: "TASK_STATE_WORKING" },
  // Neither has presence in the proto: 0 is the same as none, and who means false says nothing (as official clients do).
  historyLength: converted(HISTORY_LENGTH, (length) => (length === 0 ? undefined : length)),
  blocking: false,
  names: {
    parts: ["content"],
    status: ["message", "update"],
    request: ["message", "request"],
    pushConfig: ["pushNotification"],
  },
});

export const SEND_MESSAGE_REQUEST: Type<SendMessageRequest> = VOCABULARY.sendMessage;

export const TASK: Type<Task> = VOCABULARY.task;

export const SEND_MESSAGE_RESPONSE: Type<SendMessageResponse> = message<SendMessageResponse>(
  { task: oneof(TASK), message: oneof(VOCABULARY.message) },
  { always: true, names: { message: ["message", "msg"] } },
);

export const STREAM_RESPONSE: Type<StreamResponse> = message<StreamResponse>(
  {
    task: oneof(TASK),
    message: oneof(VOCABULARY.message),
    statusUpdate: oneof(VOCABULARY.statusUpdate),
    artifactUpdate: oneof(VOCABULARY.artifactUpdate),
  },
  { always: true, names: { message: ["message", "msg"] } },
);

const NAMED = { names: { id: ["name"] } } as const;

export const GET_TASK_REQUEST: Type<GetTaskRequest> = message<Omit<GetTaskRequest, "tenant">>(
  {
    id: required(TASK_NAME),
    historyLength: converted(HISTORY_LENGTH, (length) => (length === 0 ? undefined : length)),
  },
  NAMED,
);

export const CANCEL_TASK_REQUEST: Type<CancelTaskRequest> = message<{ id: string }>(
  { id: required(TASK_NAME) },
  NAMED,
);

export const TASK_SUBSCRIPTION_REQUEST: Type<SubscribeToTaskRequest> = CANCEL_TASK_REQUEST;

/** Its `name` is made by the server. */
export const TASK_PUSH_CONFIG: Type<TaskPushNotificationConfig> = converted(
  message<{ name?: ConfigName; config: TaskPushNotificationConfig }>(
    { name: CONFIG_NAME, config: required(PUSH_CONFIG) },
    { names: { config: ["pushNotificationConfig"] } },
  ),
  ({ name, config }) => ({ ...config, ...name }),
);

/** The configuration as it is to be, without regard to the name that it will get. */
const NEW_PUSH_CONFIG: Type<TaskPushNotificationConfig> = converted(
  message<{ config: TaskPushNotificationConfig }>(
    { config: required(PUSH_CONFIG) },
    { names: { config: ["pushNotificationConfig"] } },
  ),
  ({ config }) => config,
);

export const CREATE_PUSH_CONFIG_REQUEST: Type<CreateTaskPushNotificationConfigRequest> = converted(
  message<{ parent: string; configId?: string; config: TaskPushNotificationConfig }>({
    parent: required(TASK_NAME),
    configId: string,
    config: required(NEW_PUSH_CONFIG),
  }),
  ({ parent, configId, config }) => ({
    ...config,
    id: config.id ?? configId ?? DEFAULT_CONFIG,
    taskId: parent,
  }),
);

export const PUSH_CONFIG_REQUEST: Type<GetTaskPushNotificationConfigRequest> = converted(
  message<{ name: ConfigName }>({ name: required(CONFIG_NAME) }),
  ({ name }) => ({ taskId: name.taskId, id: name.id }),
);

export const LIST_PUSH_CONFIGS_REQUEST: Type<ListTaskPushNotificationConfigsRequest> = converted(
  message<{ parent: string; pageSize?: number; pageToken?: string }>({
    parent: required(TASK_NAME),
    pageSize: int32,
    pageToken: string,
  }),
  ({ parent, pageSize = 0, pageToken }) => ({
    taskId: parent,
    // Without presence in the proto, and no more than a wish.
    ...(pageSize > 0 ? { pageSize } : {}),
    ...(pageToken === undefined ? {} : { pageToken }),
  }),
);

export const LIST_PUSH_CONFIGS_RESPONSE: Type<ListTaskPushNotificationConfigsResponse> =
  message<ListTaskPushNotificationConfigsResponse>({
    configs: required(list(TASK_PUSH_CONFIG), []),
    nextPageToken: string,
  });
