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
  createCheckedSchema,
  createConvertingSchema,
  createValidateOnlySchema,
  createListSchema,
} from "../composite-schemas.ts";
import { type FieldSchemas, createObjectSchema, optional, required } from "../object-schema.ts";
import { type DecodingSchema } from "../proto-json-schema.ts";
import {
  boolSchema,
  stringSchema,
  structSchema,
  timestampSchema,
  createMappedEnumSchema,
} from "../scalar-schemas.ts";

/**
 * Options of `createSchemasCommonToJsonRpcAndProto`, for the differences between the JSON-RPC types and the proto of 0.3.
 */
interface CommonSchemaOptions {
  readonly partSchema: DecodingSchema<Part>;
  readonly roleSchema: DecodingSchema<Role>;
  readonly stateSchema: DecodingSchema<TaskState>;
  readonly enumNames: { readonly user: string; readonly agent: string; readonly working: string };
  readonly historyLengthSchema: DecodingSchema<number>;
  /** Value of `blocking` if a configuration does not contain `blocking`. */
  readonly defaultBlocking: boolean;
  readonly wireNames: {
    readonly parts: readonly [string, ...string[]];
    readonly status: readonly [string, ...string[]];
    readonly request: readonly [string, ...string[]];
    readonly pushConfig: readonly [string, ...string[]];
  };
}

/**
 * Schemas that the JSON-RPC types and the proto of 0.3 have in common. All schemas decode into the 1.0
 * model.
 */
interface SchemasCommonToJsonRpcAndProto {
  readonly message: DecodingSchema<Message>;
  readonly task: DecodingSchema<Task>;
  readonly statusUpdate: DecodingSchema<TaskStatusUpdateEvent>;
  readonly artifactUpdate: DecodingSchema<TaskArtifactUpdateEvent>;
  readonly sendMessage: DecodingSchema<SendMessageRequest>;
}

/** The `kind` member, which only the JSON-RPC types have. Some JSON-RPC clients omit `kind`. */
type KindMember = { kind?: never };

const createKindSchema = (name: string): DecodingSchema<never> =>
  createValidateOnlySchema(createMappedEnumSchema({ [name]: name }));

const FIRST_PUSH_AUTH_SCHEME_OF_LIST_SCHEMA: DecodingSchema<string> = createConvertingSchema(
  createCheckedSchema(createListSchema(stringSchema), (schemes) =>
    schemes.length > 0 ? undefined : "must name at least one scheme",
  ),
  ([first]) => first,
);

/**
 * Schema for the authentication info of a webhook. If both the scheme and the credentials are missing, the
 * authentication info counts as not set.
 */
const AUTHENTICATION_INFO_SCHEMA: DecodingSchema<AuthenticationInfo> = createConvertingSchema(
  createObjectSchema<Partial<AuthenticationInfo>>(
    { scheme: FIRST_PUSH_AUTH_SCHEME_OF_LIST_SCHEMA, credentials: stringSchema },
    { wireNames: { scheme: ["schemes"] } },
  ),
  ({ scheme = "", credentials }, at) => {
    if (credentials === undefined) return scheme === "" ? undefined : { scheme };
    return scheme === "" && at.isStrict
      ? at.addViolation(`needs "schemes" with at least one scheme`)
      : { scheme, credentials };
  },
);

/** Schema for a push notification configuration of 0.3. */
export const PUSH_CONFIG_SCHEMA: DecodingSchema<TaskPushNotificationConfig> = createObjectSchema<
  Omit<TaskPushNotificationConfig, "tenant" | "taskId">
>({
  id: stringSchema,
  url: required(stringSchema),
  token: stringSchema,
  authentication: AUTHENTICATION_INFO_SCHEMA,
});

/** Creates the schemas that the JSON-RPC types and the proto of 0.3 have in common. */
export function createSchemasCommonToJsonRpcAndProto({
  partSchema,
  roleSchema,
  stateSchema,
  enumNames,
  wireNames,
  ...options
}: CommonSchemaOptions): SchemasCommonToJsonRpcAndProto {
  const messageFields: FieldSchemas<Message & KindMember> = {
    kind: createKindSchema("message"),
    messageId: required(stringSchema, ""),
    contextId: stringSchema,
    taskId: stringSchema,
    role: required(roleSchema, enumNames.agent),
    parts: required(createListSchema(partSchema), []),
    metadata: structSchema,
    extensions: createListSchema(stringSchema),
    referenceTaskIds: createListSchema(stringSchema),
  };
  const partsOptions = { wireNames: { parts: wireNames.parts } };
  const messageSchema: DecodingSchema<Message> = createObjectSchema<Message & KindMember>(
    messageFields,
    partsOptions,
  );
  const userMessageSchema: DecodingSchema<Message> = createObjectSchema<Message & KindMember>(
    {
      ...messageFields,
      role: required(
        createCheckedSchema(roleSchema, (role) =>
          role === "ROLE_USER"
            ? undefined
            : `must be ${enumNames.user} in a request; an agent's role is for responses`,
        ),
      ),
    },
    partsOptions,
  );
  const artifact = createObjectSchema<Artifact>({
    artifactId: required(stringSchema, ""),
    name: stringSchema,
    description: stringSchema,
    parts: required(createListSchema(partSchema), []),
    metadata: structSchema,
    extensions: createListSchema(stringSchema),
  });
  const status: DecodingSchema<TaskStatus> = createObjectSchema<TaskStatus>(
    // `unknown` and unrecognized states decode to "working", because they are neither terminal nor
    // interrupted.
    { state: required(stateSchema, enumNames.working), message: messageSchema, timestamp: timestampSchema },
    { wireNames: { message: wireNames.status } },
  );
  const configuration: DecodingSchema<SendMessageConfiguration> = createConvertingSchema(
    createObjectSchema<Omit<SendMessageConfiguration, "returnImmediately"> & { blocking?: boolean }>(
      {
        acceptedOutputModes: createListSchema(stringSchema),
        historyLength: optional(options.historyLengthSchema),
        taskPushNotificationConfig: PUSH_CONFIG_SCHEMA,
        blocking: optional(boolSchema),
      },
      { wireNames: { taskPushNotificationConfig: wireNames.pushConfig } },
    ),
    // 1.0 has the opposite member, `returnImmediately`, which is false by default.
    ({ blocking = options.defaultBlocking, ...rest }) => {
      if (!blocking) return { ...rest, returnImmediately: true };
      return Object.keys(rest).length > 0 ? rest : undefined;
    },
  );
  const taskIdFields = { taskId: required(stringSchema, ""), contextId: required(stringSchema, "") };
  return {
    message: messageSchema,
    task: createObjectSchema<Task & KindMember>({
      kind: createKindSchema("task"),
      id: required(stringSchema),
      contextId: required(stringSchema, ""),
      status: required(status),
      artifacts: createListSchema(artifact),
      history: createListSchema(messageSchema),
      metadata: structSchema,
    }),
    statusUpdate: createObjectSchema<TaskStatusUpdateEvent & KindMember & { final?: never }>({
      ...taskIdFields,
      kind: createKindSchema("status-update"),
      status: required(status),
      // The state implies `final`.
      final: createValidateOnlySchema(boolSchema),
      metadata: structSchema,
    }),
    artifactUpdate: createObjectSchema<TaskArtifactUpdateEvent & KindMember>({
      ...taskIdFields,
      kind: createKindSchema("artifact-update"),
      artifact: required(artifact),
      append: boolSchema,
      lastChunk: boolSchema,
      metadata: structSchema,
    }),
    sendMessage: createObjectSchema<Omit<SendMessageRequest, "tenant">>(
      {
        message: required(userMessageSchema),
        configuration,
        metadata: structSchema,
      },
      { wireNames: { message: wireNames.request } },
    ),
  };
}

/**
 * Default id for a push notification configuration without an id. If a client sets another configuration
 * without an id, the new configuration replaces the old one. The TCK for 0.3 reads the configuration back
 * under the id `default`.
 */
export const DEFAULT_PUSH_CONFIG_ID = "default";
