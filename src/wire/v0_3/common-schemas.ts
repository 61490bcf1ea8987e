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
  withCheck,
  withConversion,
  type FieldSchemas,
  createIgnoredSchema,
  createListSchema,
  createMessageSchema,
  optional,
  required,
  type Schema,
} from "../proto-json-schema.ts";
import {
  boolSchema,
  int32Schema,
  stringSchema,
  structSchema,
  timestampSchema,
  createMappedEnumSchema,
} from "../scalar-schemas.ts";

/** Where the two forms of 0.3, its JSON-RPC types and its proto, write the same thing differently. */
export interface CommonSchemaOptions {
  readonly partSchema: Schema<Part>;
  readonly roleSchema: Schema<Role>;
  readonly stateSchema: Schema<TaskState>;
  readonly enumNames: { readonly user: string; readonly agent: string; readonly working: string };
  readonly historyLengthSchema: Schema<number>;
  /** What a configuration means that does not say whether to wait. */
  readonly defaultBlocking: boolean;
  readonly wireNames: {
    readonly parts: readonly [string, ...string[]];
    readonly status: readonly [string, ...string[]];
    readonly request: readonly [string, ...string[]];
    readonly pushConfig: readonly [string, ...string[]];
  };
}

/** What both forms of 0.3 have in common, read into 1.0. */
export interface CommonSchemas {
  readonly message: Schema<Message>;
  readonly task: Schema<Task>;
  readonly statusUpdate: Schema<TaskStatusUpdateEvent>;
  readonly artifactUpdate: Schema<TaskArtifactUpdateEvent>;
  readonly sendMessage: Schema<SendMessageRequest>;
}

/** Present in every object of JSON-RPC, missing in the proto, and left out by some who should send it. */
type KindMember = { kind?: never };

const createKindSchema = (name: string): Schema<never> =>
  createIgnoredSchema(createMappedEnumSchema({ [name]: name }));

const FIRST_AUTH_SCHEME_SCHEMA: Schema<string> = withConversion(
  withCheck(createListSchema(stringSchema), (schemes) =>
    schemes.length > 0 ? undefined : "must name at least one scheme",
  ),
  ([first]) => first,
);

/** With neither a scheme nor credentials it says nothing, as a proto message does that is there and empty. */
const AUTHENTICATION_INFO_SCHEMA: Schema<AuthenticationInfo> = withConversion(
  createMessageSchema<Partial<AuthenticationInfo>>(
    { scheme: FIRST_AUTH_SCHEME_SCHEMA, credentials: stringSchema },
    { wireNames: { scheme: ["schemes"] } },
  ),
  ({ scheme = "", credentials }, at) => {
    if (credentials === undefined) return scheme === "" ? undefined : { scheme };
    return scheme === "" && at.isStrict
      ? at.addViolation(`needs "schemes" with at least one scheme`)
      : { scheme, credentials };
  },
);

export const PUSH_CONFIG_SCHEMA: Schema<TaskPushNotificationConfig> = createMessageSchema<
  Omit<TaskPushNotificationConfig, "tenant" | "taskId">
>({
  id: stringSchema,
  url: required(stringSchema),
  token: stringSchema,
  authentication: AUTHENTICATION_INFO_SCHEMA,
});

export const HISTORY_LENGTH_SCHEMA: Schema<number> = withCheck(int32Schema, (length) =>
  length < 0 ? `must be 0 or more, not ${length}; leave it out for the whole history` : undefined,
);

export function createCommonSchemas({
  partSchema: part,
  roleSchema: role,
  stateSchema: state,
  enumNames: words,
  wireNames: names,
  ...spelling
}: CommonSchemaOptions): CommonSchemas {
  const messageFields: FieldSchemas<Message & KindMember> = {
    kind: createKindSchema("message"),
    messageId: required(stringSchema, ""),
    contextId: stringSchema,
    taskId: stringSchema,
    role: required(role, words.agent),
    parts: required(createListSchema(part), []),
    metadata: structSchema,
    extensions: createListSchema(stringSchema),
    referenceTaskIds: createListSchema(stringSchema),
  };
  const written = { wireNames: { parts: names.parts } };
  const anyMessage: Schema<Message> = createMessageSchema<Message & KindMember>(messageFields, written);
  const userMessage: Schema<Message> = createMessageSchema<Message & KindMember>(
    {
      ...messageFields,
      role: required(
        withCheck(role, (who) =>
          who === "ROLE_USER" ? undefined : `must be ${words.user} in a request; an agent speaks in answers`,
        ),
      ),
    },
    written,
  );
  const artifact = createMessageSchema<Artifact>({
    artifactId: required(stringSchema, ""),
    name: stringSchema,
    description: stringSchema,
    parts: required(createListSchema(part), []),
    metadata: structSchema,
    extensions: createListSchema(stringSchema),
  });
  const status: Schema<TaskStatus> = createMessageSchema<TaskStatus>(
    // `unknown`, and a state that we do not know, is neither an end nor a question, as far as we know.
    { state: required(state, words.working), message: anyMessage, timestamp: timestampSchema },
    { wireNames: { message: names.status } },
  );
  const configuration: Schema<SendMessageConfiguration> = withConversion(
    createMessageSchema<Omit<SendMessageConfiguration, "returnImmediately"> & { blocking?: boolean }>(
      {
        acceptedOutputModes: createListSchema(stringSchema),
        historyLength: optional(spelling.historyLengthSchema),
        taskPushNotificationConfig: PUSH_CONFIG_SCHEMA,
        blocking: optional(boolSchema),
      },
      { wireNames: { taskPushNotificationConfig: names.pushConfig } },
    ),
    // 1.0 asks the other way round, and is asked to wait when it is asked nothing.
    ({ blocking = spelling.defaultBlocking, ...rest }) => {
      if (!blocking) return { ...rest, returnImmediately: true };
      return Object.keys(rest).length > 0 ? rest : undefined;
    },
  );
  const ofTask = { taskId: required(stringSchema, ""), contextId: required(stringSchema, "") };
  return {
    message: anyMessage,
    task: createMessageSchema<Task & KindMember>({
      kind: createKindSchema("task"),
      id: required(stringSchema),
      contextId: required(stringSchema, ""),
      status: required(status),
      artifacts: createListSchema(artifact),
      history: createListSchema(anyMessage),
      metadata: structSchema,
    }),
    statusUpdate: createMessageSchema<TaskStatusUpdateEvent & KindMember & { final?: never }>({
      ...ofTask,
      kind: createKindSchema("status-update"),
      status: required(status),
      // The state says it.
      final: createIgnoredSchema(boolSchema),
      metadata: structSchema,
    }),
    artifactUpdate: createMessageSchema<TaskArtifactUpdateEvent & KindMember>({
      ...ofTask,
      kind: createKindSchema("artifact-update"),
      artifact: required(artifact),
      append: boolSchema,
      lastChunk: boolSchema,
      metadata: structSchema,
    }),
    sendMessage: createMessageSchema<Omit<SendMessageRequest, "tenant">>(
      {
        message: required(userMessage),
        configuration,
        metadata: structSchema,
      },
      { wireNames: { message: names.request } },
    ),
  };
}

/**
 * What `set` has no id for is always the same configuration, which another `set` replaces. The TCK of 0.3 reads it back
 * under this name.
 */
export const DEFAULT_PUSH_CONFIG_ID = "default";
