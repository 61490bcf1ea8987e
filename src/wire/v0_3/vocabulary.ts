import type {
  Artifact,
  AuthenticationInfo,
  Message,
  Part,
  Role,
  SendMessageConfiguration,
  SendMessageRequest,
  Task,
  TaskArtifactUpdateEvent,
  TaskPushNotificationConfig,
  TaskState,
  TaskStatus,
  TaskStatusUpdateEvent,
} from "../../protocol/index.ts";
import {
  checked,
  converted,
  type Fields,
  ignored,
  list,
  message,
  optional,
  required,
  type Type,
} from "../proto-json.ts";
import { bool, int32, string, struct, timestamp, word } from "../scalars.ts";

/** Where the two forms of 0.3, its JSON-RPC types and its proto, write the same thing differently. */
export interface Spelling {
  readonly part: Type<Part>;
  readonly role: Type<Role>;
  readonly state: Type<TaskState>;
  readonly words: { readonly user: string; readonly agent: string; readonly working: string };
  readonly historyLength: Type<number>;
  /** What a configuration means that does not say whether to wait. */
  readonly blocking: boolean;
  readonly names: {
    readonly parts: readonly [string, ...string[]];
    readonly status: readonly [string, ...string[]];
    readonly request: readonly [string, ...string[]];
    readonly pushConfig: readonly [string, ...string[]];
  };
}

/** What both forms of 0.3 have in common, read into 1.0. */
export interface Vocabulary {
  readonly message: Type<Message>;
  readonly task: Type<Task>;
  readonly statusUpdate: Type<TaskStatusUpdateEvent>;
  readonly artifactUpdate: Type<TaskArtifactUpdateEvent>;
  readonly sendMessage: Type<SendMessageRequest>;
}

/** Present in every object of JSON-RPC, missing in the proto, and left out by some who should send it. */
type Kind = { kind?: never };

const kind = (name: string): Type<never> => ignored(word({ [name]: name }));

const FIRST_SCHEME: Type<string> = converted(
  checked(list(string), (schemes) => (schemes.length > 0 ? undefined : "must name at least one scheme")),
  ([first]) => first,
);

/** With neither a scheme nor credentials it says nothing, as a proto message does that is there and empty. */
const AUTHENTICATION: Type<AuthenticationInfo> = converted(
  message<Partial<AuthenticationInfo>>(
    { scheme: FIRST_SCHEME, credentials: string },
    { names: { scheme: ["schemes"] } },
  ),
  ({ scheme = "", credentials }, at) => {
    if (credentials === undefined) return scheme === "" ? undefined : { scheme };
    return scheme === "" && at.strict
      ? at.refuse(`needs "schemes" with at least one scheme`)
      : { scheme, credentials };
  },
);

export const PUSH_CONFIG: Type<TaskPushNotificationConfig> = message<
  Omit<TaskPushNotificationConfig, "tenant" | "taskId">
>({
  id: string,
  url: required(string),
  token: string,
  authentication: AUTHENTICATION,
});

export const HISTORY_LENGTH: Type<number> = checked(int32, (length) =>
  length < 0 ? `must be 0 or more, not ${length}; leave it out for the whole history` : undefined,
);

export function vocabularyOf({ part, role, state, words, names, ...spelling }: Spelling): Vocabulary {
  const messageFields: Fields<Message & Kind> = {
    kind: kind("message"),
    messageId: required(string, ""),
    contextId: string,
    taskId: string,
    role: required(role, words.agent),
    parts: required(list(part), []),
    metadata: struct,
    extensions: list(string),
    referenceTaskIds: list(string),
  };
  const written = { names: { parts: names.parts } };
  const anyMessage: Type<Message> = message<Message & Kind>(messageFields, written);
  const userMessage: Type<Message> = message<Message & Kind>(
    {
      ...messageFields,
      role: required(
        checked(role, (who) =>
          who === "ROLE_USER" ? undefined : `must be ${words.user} in a request; an agent speaks in answers`,
        ),
      ),
    },
    written,
  );
  const artifact = message<Artifact>({
    artifactId: required(string, ""),
    name: string,
    description: string,
    parts: required(list(part), []),
    metadata: struct,
    extensions: list(string),
  });
  const status: Type<TaskStatus> = message<TaskStatus>(
    // `unknown`, and a state that we do not know, is neither an end nor a question, as far as we know.
    { state: required(state, words.working), message: anyMessage, timestamp },
    { names: { message: names.status } },
  );
  const configuration: Type<SendMessageConfiguration> = converted(
    message<Omit<SendMessageConfiguration, "returnImmediately"> & { blocking?: boolean }>(
      {
        acceptedOutputModes: list(string),
        historyLength: optional(spelling.historyLength),
        taskPushNotificationConfig: PUSH_CONFIG,
        blocking: optional(bool),
      },
      { names: { taskPushNotificationConfig: names.pushConfig } },
    ),
    // 1.0 asks the other way round, and is asked to wait when it is asked nothing.
    ({ blocking = spelling.blocking, ...rest }) => {
      if (!blocking) return { ...rest, returnImmediately: true };
      return Object.keys(rest).length > 0 ? rest : undefined;
    },
  );
  const ofTask = { taskId: required(string, ""), contextId: required(string, "") };
  return {
    message: anyMessage,
    task: message<Task & Kind>({
      kind: kind("task"),
      id: required(string),
      contextId: required(string, ""),
      status: required(status),
      artifacts: list(artifact),
      history: list(anyMessage),
      metadata: struct,
    }),
    statusUpdate: message<TaskStatusUpdateEvent & Kind & { final?: never }>({
      ...ofTask,
      kind: kind("status-update"),
      status: required(status),
      // The state says it.
      final: ignored(bool),
      metadata: struct,
    }),
    artifactUpdate: message<TaskArtifactUpdateEvent & Kind>({
      ...ofTask,
      kind: kind("artifact-update"),
      artifact: required(artifact),
      append: bool,
      lastChunk: bool,
      metadata: struct,
    }),
    sendMessage: message<Omit<SendMessageRequest, "tenant">>(
      {
        message: required(userMessage),
        configuration,
        metadata: struct,
      },
      { names: { message: names.request } },
    ),
  };
}

/**
 * What `set` has no id for is always the same configuration, which another `set` replaces. The TCK of 0.3 reads it back
 * under this name.
 */
export const DEFAULT_CONFIG = "default";
