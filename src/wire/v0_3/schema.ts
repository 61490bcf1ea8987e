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
  converted,
  type Decoding,
  list,
  message,
  oneof,
  optional,
  required,
  type Type,
} from "../proto-json.ts";
import { bytes, string, struct, word } from "../scalars.ts";
import { fromWrapped } from "./data-part.ts";
import { DEFAULT_CONFIG, HISTORY_LENGTH, PUSH_CONFIG, vocabularyOf } from "./vocabulary.ts";
import { inverse, ROLES, STATES } from "./words.ts";

// The JSON-RPC types of A2A 0.3, read into 1.0.

type FileContent = { name?: string; mimeType?: string } & ({ bytes: string } | { uri: string });

type PartContent = { kind?: "text" | "file" | "data"; metadata?: JsonObject } & (
  | { text: string }
  | { file: FileContent }
  | { data: JsonObject }
);

const PART: Type<Part> = converted(
  message<PartContent>({
    // Part of the type, but the key of the content says it as well.
    kind: word({ text: "text", file: "file", data: "data" }),
    text: oneof(string),
    file: oneof(
      message<FileContent>({ bytes: oneof(bytes), uri: oneof(string), name: string, mimeType: string }),
    ),
    data: oneof(struct),
    metadata: struct,
  }),
  toPart,
);

function toPart(part: PartContent, at: Decoding): Part | undefined {
  const { kind, metadata } = part;
  if (kind !== undefined && !(kind in part)) return at.refuse(`is of kind ${kind} and has no ${kind}`);
  const about = metadata === undefined ? {} : { metadata };
  if ("text" in part) return { text: part.text, ...about };
  if ("data" in part) return fromWrapped(part.data, metadata);
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

const VOCABULARY = vocabularyOf({
  part: PART,
  role: word(inverse(ROLES)),
  state: word(inverse(STATES)),
  words: { user: "user", agent: "agent", working: "working" },
  historyLength: HISTORY_LENGTH,
  blocking: true,
  names: {
    parts: ["parts"],
    status: ["message"],
    request: ["message"],
    pushConfig: ["pushNotificationConfig"],
  },
});

export const SEND_MESSAGE: Type<SendMessageRequest> = VOCABULARY.sendMessage;

export const TASK: Type<Task> = VOCABULARY.task;

/** What an object without a `kind` must be, by what it has. */
function kindOf(json: object): unknown {
  if ("kind" in json) return json.kind;
  if ("artifact" in json) return "artifact-update";
  if ("messageId" in json) return "message";
  return "taskId" in json ? "status-update" : "task";
}

export const STREAM_RESPONSE: Type<StreamResponse> = {
  decode(json, at): StreamResponse | undefined {
    const kind = isObject(json) ? kindOf(json) : undefined;
    if (kind === "message") return wrap(VOCABULARY.message.decode(json, at), (message) => ({ message }));
    if (kind === "status-update")
      return wrap(VOCABULARY.statusUpdate.decode(json, at), (statusUpdate) => ({ statusUpdate }));
    if (kind === "artifact-update")
      return wrap(VOCABULARY.artifactUpdate.decode(json, at), (artifactUpdate) => ({ artifactUpdate }));
    return wrap(VOCABULARY.task.decode(json, at), (task) => ({ task }));
  },
};

function wrap<T>(value: T | undefined, wrapped: (value: T) => StreamResponse): StreamResponse | undefined {
  return value === undefined ? undefined : wrapped(value);
}

export const SEND_MESSAGE_RESPONSE: Type<SendMessageResponse> = converted(STREAM_RESPONSE, (event, at) =>
  "task" in event || "message" in event ? event : at.refuse("must be a task or a message"),
);

export const GET_TASK: Type<GetTaskRequest> = message<Omit<GetTaskRequest, "tenant">>({
  id: required(string),
  historyLength: optional(HISTORY_LENGTH),
});

export const CANCEL_TASK: Type<CancelTaskRequest> = message<Omit<CancelTaskRequest, "tenant">>({
  id: required(string),
  metadata: struct,
});

export const RESUBSCRIBE: Type<SubscribeToTaskRequest> = message<{ id: string }>({ id: required(string) });

export const NO_PARAMS: Type<Empty> = { decode: () => ({}), nullable: true };

type TaskPushConfig = { taskId: string; pushNotificationConfig: TaskPushNotificationConfig };

export const TASK_PUSH_CONFIG: Type<CreateTaskPushNotificationConfigRequest> = converted(
  message<TaskPushConfig>({ taskId: required(string), pushNotificationConfig: required(PUSH_CONFIG) }),
  ({ taskId, pushNotificationConfig }) => ({ ...pushNotificationConfig, taskId }),
);

export const SET_PUSH_CONFIG: Type<CreateTaskPushNotificationConfigRequest> = converted(
  TASK_PUSH_CONFIG,
  (config) => ({ ...config, id: config.id ?? DEFAULT_CONFIG }),
);

/** Without the configuration's id, which comes out as "", the task's first one is meant. */
export const GET_PUSH_CONFIG: Type<GetTaskPushNotificationConfigRequest> = converted(
  message<{ taskId: string; id?: string }>(
    { taskId: required(string), id: string },
    { names: { taskId: ["id"], id: ["pushNotificationConfigId"] } },
  ),
  ({ taskId, id = "" }) => ({ taskId, id }),
);

export const DELETE_PUSH_CONFIG: Type<DeleteTaskPushNotificationConfigRequest> = message<{
  taskId: string;
  id: string;
}>(
  { taskId: required(string), id: required(string) },
  { names: { taskId: ["id"], id: ["pushNotificationConfigId"] } },
);

/** 0.3 has no pages; a task has no more configurations than one may have. */
const ALL = 100;

export const LIST_PUSH_CONFIGS: Type<ListTaskPushNotificationConfigsRequest> = converted(
  message<{ taskId: string }>({ taskId: required(string) }, { names: { taskId: ["id"] } }),
  ({ taskId }) => ({ taskId, pageSize: ALL }),
);

const CONFIGS = list(TASK_PUSH_CONFIG);

/** Go's server answers null where there are none. */
export const PUSH_CONFIGS: Type<ListTaskPushNotificationConfigsResponse> = converted(
  { decode: (json, at) => (json === null ? [] : CONFIGS.decode(json, at)) },
  (configs) => ({ configs }),
);
