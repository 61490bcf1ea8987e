import {
  type AgentCard,
  type AgentInterface,
  type AuthenticationInfo,
  type GetTaskPushNotificationConfigRequest,
  isObject,
  type JsonObject,
  type OAuthFlows,
  type Part,
  type SecurityScheme,
  type SendMessageConfiguration,
  type TaskPushNotificationConfig,
} from "../../protocol/index.ts";
import {
  createCheckedSchema,
  createConvertingSchema,
  createListSchema,
  createMapSchema,
  createValidateOnlySchema,
} from "../composite-schemas.ts";
import { createMessageSchemas, type FindSchema } from "../object-schema.ts";
import {
  createOperationDecoder,
  type OperationDecoder,
  type OperationMessages,
} from "../operation-messages.ts";
import { decodeResponseTolerantly, type DecodingContext, type DecodingSchema } from "../proto-json-schema.ts";
import {
  boolSchema,
  bytesSchema,
  createEnumSchema,
  createMappedEnumSchema,
  stringSchema,
} from "../scalar-schemas.ts";
import {
  ANY_TO_EMPTY_OBJECT_SCHEMA,
  findSchema as findSchemaV1,
  HISTORY_LENGTH_SCHEMA,
  ROLE_SCHEMA,
} from "../v1/decode.ts";
import { OPERATION_MESSAGES } from "../v1/messages.ts";
import { throwListTasksUnsupported } from "./encode.ts";
import { invertTable, ROLE_NAMES, TASK_STATE_NAMES } from "./enum-names.ts";
import { JSON_RPC_MESSAGES, PROTO_ENUMS, PROTO_MESSAGES, PROTO_OPERATION_MESSAGES } from "./messages.ts";
import { fromProtoFileBytes } from "./proto-file-bytes.ts";
import { unwrapNonObjectData } from "./wrapped-non-object-data.ts";

// Decoders of A2A 0.3. All values decode into the 1.0 model.

// The proto of 0.3 identifies tasks and push configurations by resource names. A task id may contain slashes. The id of
// a configuration must not contain one.
const TASK_NAME_PATTERN = /^tasks\/(.+)$/s;
const PUSH_CONFIG_NAME_PATTERN = /^tasks\/(.+)\/pushNotificationConfigs\/([^/]+)$/s;

/** Ids in the resource name of a push notification configuration. */
type PushConfigIds = Pick<GetTaskPushNotificationConfigRequest, "taskId" | "id">;
type PushConfig = Omit<TaskPushNotificationConfig, "taskId">;
interface TaskPushConfig03 {
  readonly taskId: string;
  readonly pushNotificationConfig: PushConfig;
}

/**
 * Default id for a push notification configuration without an id. If a client sets another configuration
 * without an id, the new configuration replaces the old one. The TCK for 0.3 reads the configuration back
 * under the id `default`.
 */
const DEFAULT_PUSH_CONFIG_ID = "default";
/**
 * Maximum number of push notification configurations per task, and page size of the list. One page
 * contains all configurations of a task, because 0.3 has no pagination.
 */
const PUSH_CONFIG_LIST_PAGE_SIZE = 100;

function createUserRoleSchema(roleSchema: DecodingSchema<string>, user: string): DecodingSchema<string> {
  return createCheckedSchema(roleSchema, (role) =>
    role === "ROLE_USER" ? undefined : `must be ${user} in a request; an agent's role is for responses`,
  );
}

const COMMON_TYPES = {
  // The state implies `final`.
  Ignored: createValidateOnlySchema(boolSchema),
  Empty: ANY_TO_EMPTY_OBJECT_SCHEMA,
  ListTasks: { decode: throwListTasksUnsupported },
  PreferredTransport: { ...stringSchema, emptyValue: "JSONRPC" },
  ProtocolVersion: { ...stringSchema, emptyValue: "0.3.0" },
};

/** Operations that both bindings refuse. */
const UNSUPPORTED_OPERATIONS: OperationMessages<"ListTasks"> = { ListTasks: ["ListTasks", "ListTasks"] };

/**
 * Converts the authentication info of a webhook. If both the scheme and the credentials are missing, the
 * authentication info counts as not set.
 */
function fromAuthenticationInfo(
  { schemes, credentials }: { schemes?: string[]; credentials?: string },
  at: DecodingContext,
): AuthenticationInfo | undefined {
  if (at.isStrict && schemes?.length === 0) {
    at.pushPath("schemes");
    at.addViolation("must name at least one scheme");
    at.popPath();
  }
  const [scheme = ""] = schemes ?? [];
  if (credentials === undefined) return scheme === "" ? undefined : { scheme };
  return scheme === "" && at.isStrict
    ? at.addViolation(`needs "schemes" with at least one scheme`)
    : { scheme, credentials };
}

/** Returns the conversion of a configuration. `returnImmediately` of 1.0 is the opposite of `blocking`. */
const createConfigurationConversion =
  (defaultBlocking: boolean) =>
  ({
    blocking = defaultBlocking,
    ...rest
  }: SendMessageConfiguration & { blocking?: boolean }): SendMessageConfiguration | undefined => {
    if (!blocking) return { ...rest, returnImmediately: true };
    return Object.keys(rest).length > 0 ? rest : undefined;
  };

interface CardFields extends Omit<AgentCard, "supportedInterfaces"> {
  readonly protocolVersion: string;
  readonly url: string;
  readonly preferredTransport: string;
  readonly additionalInterfaces?: { readonly url: string; readonly transport: string }[];
  readonly supportsAuthenticatedExtendedCard?: boolean;
}

function fromCard03({
  protocolVersion,
  url,
  preferredTransport,
  additionalInterfaces = [],
  supportsAuthenticatedExtendedCard: extendedAgentCard,
  capabilities,
  ...card
}: CardFields): AgentCard {
  const declared = [{ url, transport: preferredTransport }, ...additionalInterfaces];
  return {
    ...card,
    supportedInterfaces: mergeInterfaces(declared, protocolVersion),
    capabilities: { ...capabilities, ...(extendedAgentCard === undefined ? {} : { extendedAgentCard }) },
  };
}

/**
 * Merges the interfaces of a 0.3 card into one list that starts with the main interface. The function
 * removes duplicates, because 0.3 recommends listing the main interface again under the additional
 * interfaces.
 */
function mergeInterfaces(
  declared: readonly { url: string; transport: string }[],
  protocolVersion: string,
): AgentInterface[] {
  const interfaces = new Map<string, AgentInterface>();
  for (const { url, transport } of declared) {
    const key = `${transport} ${url}`;
    // 0.3 cards include the patch in their version. 1.0 omits the patch.
    const [, version = protocolVersion] = /^(\d+\.\d+)\./.exec(protocolVersion) ?? [];
    if (url !== "" && !interfaces.has(key))
      interfaces.set(key, { url, protocolBinding: transport, protocolVersion: version });
  }
  return [...interfaces.values()];
}

const COMMON_CONVERSIONS = { AuthenticationInfo: fromAuthenticationInfo, AgentCard: fromCard03 };

type ProtoPart =
  | { text: string }
  | { file: { mimeType?: string; name?: string } & ({ fileWithUri: string } | { fileWithBytes: string }) }
  | { data: { data: JsonObject } };

function fromProtoPart(part: ProtoPart): Part {
  if ("data" in part) return { data: part.data.data };
  if (!("file" in part)) return part;
  const { mimeType: mediaType, name: filename, ...file } = part.file;
  const content = "fileWithBytes" in file ? { raw: file.fileWithBytes } : { url: file.fileWithUri };
  return {
    ...content,
    ...(mediaType !== undefined && { mediaType }),
    ...(filename !== undefined && { filename }),
  };
}

/** Creates a schema for a resource name. `expected` describes the names that match the pattern. */
const createNameSchema = (pattern: RegExp, expected: string): DecodingSchema<string> =>
  createCheckedSchema(stringSchema, (name) => (pattern.test(name) ? undefined : `must be ${expected}`));

const PROTO_TASK_STATE_SCHEMA = createEnumSchema(PROTO_ENUMS.TaskState);

const findProtoSchema: FindSchema = createMessageSchemas(
  PROTO_MESSAGES,
  {
    ...COMMON_TYPES,
    Role: ROLE_SCHEMA,
    UserRole: createUserRoleSchema(ROLE_SCHEMA, "ROLE_USER"),
    TaskState: {
      ...createConvertingSchema(PROTO_TASK_STATE_SCHEMA, (state) =>
        state === "TASK_STATE_CANCELLED" ? "TASK_STATE_CANCELED" : state,
      ),
      emptyValue: "TASK_STATE_WORKING",
    },
    // 0 counts as not set.
    HistoryLength: createConvertingSchema(HISTORY_LENGTH_SCHEMA, (length) => length || undefined),
    // The bytes of a file can be the base64 text of the file.
    FileBytes: createConvertingSchema(bytesSchema, (bytes, at) =>
      at.accepts("base64TextOfFile") ? fromProtoFileBytes(bytes) : bytes,
    ),
    TaskName: createConvertingSchema(
      createNameSchema(TASK_NAME_PATTERN, "tasks/{task id}"),
      (name) => TASK_NAME_PATTERN.exec(name)?.[1] ?? "",
    ),
    PushConfigName: createConvertingSchema(
      createNameSchema(
        PUSH_CONFIG_NAME_PATTERN,
        "tasks/{task id}/pushNotificationConfigs/{configuration id}",
      ),
      (name) => {
        const [, taskId = "", id = ""] = PUSH_CONFIG_NAME_PATTERN.exec(name) ?? [];
        return { taskId, id };
      },
    ),
    ApiKeyLocation: findSchemaV1("ApiKeyLocation"),
    GetAgentCardRequest: ANY_TO_EMPTY_OBJECT_SCHEMA,
  },
  {
    ...COMMON_CONVERSIONS,
    Part: fromProtoPart,
    // The proto field has no presence: official clients omit it to send `false`.
    SendMessageConfiguration: createConfigurationConversion(false),
    TaskPushNotificationConfig: ({ name, config }: { name?: PushConfigIds; config: PushConfig }) => ({
      ...config,
      ...name,
    }),
    NewPushNotificationConfig: ({ config }: { config: PushConfig }) => config,
    CreateTaskPushNotificationConfigRequest: ({
      parent,
      configId,
      config,
    }: {
      parent: string;
      configId?: string;
      config: PushConfig;
    }) => ({ ...config, id: config.id ?? configId ?? DEFAULT_PUSH_CONFIG_ID, taskId: parent }),
    GetTaskPushNotificationConfigRequest: ({ name }: { name: PushConfigIds }) => name,
    DeleteTaskPushNotificationConfigRequest: ({ name }: { name: PushConfigIds }) => name,
    ListTaskPushNotificationConfigRequest: ({
      parent,
      pageSize = 0,
      pageToken,
    }: {
      parent: string;
      pageSize?: number;
      pageToken?: string;
    }) => ({
      taskId: parent,
      // The proto field has no presence: 0 counts as not set. Negative sizes are ignored too, because the
      // page size is only a hint.
      ...(pageSize > 0 ? { pageSize } : {}),
      ...(pageToken === undefined ? {} : { pageToken }),
    }),
  },
);

/** The decoder of the ProtoJSON messages of A2A 0.3. */
export const protoDecoder: OperationDecoder = createOperationDecoder(
  { ...PROTO_OPERATION_MESSAGES, ...UNSUPPORTED_OPERATIONS },
  findProtoSchema,
);

type FileContent03 = { name?: string; mimeType?: string } & ({ bytes: string } | { uri: string });

type PartContent03 = { kind?: "text" | "file" | "data"; metadata?: JsonObject } & (
  | { text: string }
  | { file: FileContent03 }
  | { data: JsonObject }
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

/** Schemas and result members by the `kind` of an event. */
const EVENT_KINDS: ReadonlyMap<unknown, readonly [schema: string, member: string]> = new Map([
  ["message", ["Message", "message"]],
  ["status-update", ["TaskStatusUpdateEvent", "statusUpdate"]],
  ["artifact-update", ["TaskArtifactUpdateEvent", "artifactUpdate"]],
]);

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

const EVENT_SCHEMA: DecodingSchema<object> = {
  decode(json, at) {
    const kind = isObject(json) ? inferKind(json) : undefined;
    const [schema, member] = EVENT_KINDS.get(kind) ?? ["Task", "task"];
    const value = findJsonRpcSchema(schema).decode(json, at);
    return value === undefined ? undefined : { [member]: value };
  },
};

interface OAuthFlow {
  authorizationUrl: string;
  tokenUrl: string;
  refreshUrl?: string;
  scopes: Record<string, string>;
}

/**
 * Converts the OAuth flows of A2A 0.3 to A2A 1.0. A 0.3 card may offer several OAuth flows, but 1.0 allows
 * only one flow. The conversion keeps the most secure flow.
 */
function fromOAuthFlows03({
  authorizationCode,
  clientCredentials,
  implicit,
  password,
}: Partial<
  Record<"authorizationCode" | "clientCredentials" | "implicit" | "password", OAuthFlow>
>): OAuthFlows {
  if (authorizationCode) return { authorizationCode };
  if (clientCredentials) return { clientCredentials: omit(clientCredentials, "authorizationUrl") };
  if (implicit) return { implicit: omit(implicit, "tokenUrl") };
  return password ? { password: omit(password, "authorizationUrl") } : ({} as OAuthFlows);
}

function omit<T extends object, K extends keyof T>(object: T, key: K): Omit<T, K> {
  const { [key]: _, ...rest } = object;
  return rest;
}

/** A 0.3 security scheme of any type, with the members of all types. */
interface SecurityScheme03 {
  type: "apiKey" | "http" | "oauth2" | "openIdConnect" | "mutualTLS";
  description?: string;
  in: "query" | "header" | "cookie";
  name: string;
  scheme: string;
  bearerFormat?: string;
  flows: OAuthFlows;
  oauth2MetadataUrl?: string;
  openIdConnectUrl: string;
}

function fromSecurityScheme03(scheme: SecurityScheme03): SecurityScheme {
  const {
    type,
    description,
    in: location,
    name,
    bearerFormat,
    flows,
    oauth2MetadataUrl,
    openIdConnectUrl,
  } = scheme;
  const common = description === undefined ? {} : { description };
  if (type === "apiKey") return { apiKeySecurityScheme: { location, name, ...common } };
  if (type === "mutualTLS") return { mtlsSecurityScheme: common };
  if (type === "openIdConnect") return { openIdConnectSecurityScheme: { openIdConnectUrl, ...common } };
  if (type === "oauth2")
    return {
      oauth2SecurityScheme: {
        flows,
        ...(oauth2MetadataUrl === undefined ? {} : { oauth2MetadataUrl }),
        ...common,
      },
    };
  return {
    httpAuthSecurityScheme: {
      scheme: scheme.scheme,
      ...(bearerFormat === undefined ? {} : { bearerFormat }),
      ...common,
    },
  };
}

const SCOPES_BY_SCHEME_SCHEMA = createConvertingSchema(
  createMapSchema(createConvertingSchema(createListSchema(stringSchema), (list) => ({ list }))),
  (schemes) => ({ schemes }),
);

const createKindSchema = (...names: string[]): DecodingSchema<string> =>
  createMappedEnumSchema(Object.fromEntries(names.map((name) => [name, name])));
const createIgnoredKindSchema = (name: string): DecodingSchema<never> =>
  createValidateOnlySchema(createKindSchema(name));

const JSON_RPC_ROLE_SCHEMA = { ...createMappedEnumSchema(invertTable(ROLE_NAMES)), emptyValue: "agent" };

const findJsonRpcSchema: FindSchema = createMessageSchemas(
  JSON_RPC_MESSAGES,
  {
    ...COMMON_TYPES,
    TaskKind: createIgnoredKindSchema("task"),
    MessageKind: createIgnoredKindSchema("message"),
    StatusUpdateKind: createIgnoredKindSchema("status-update"),
    ArtifactUpdateKind: createIgnoredKindSchema("artifact-update"),
    PartKind: createKindSchema("text", "file", "data"),
    Role: JSON_RPC_ROLE_SCHEMA,
    UserRole: createUserRoleSchema(JSON_RPC_ROLE_SCHEMA, "user"),
    // Unknown states decode to "working", because they are neither terminal nor interrupted.
    TaskState: { ...createMappedEnumSchema(invertTable(TASK_STATE_NAMES)), emptyValue: "working" },
    HistoryLength: HISTORY_LENGTH_SCHEMA,
    StreamResponse: EVENT_SCHEMA,
    SendMessageResponse: createConvertingSchema(EVENT_SCHEMA, (event, at) =>
      "task" in event || "message" in event ? event : at.addViolation("must be a task or a message"),
    ),
    // The Go server returns `null` instead of an empty list.
    ListTaskPushNotificationConfigsResponse: createConvertingSchema(
      {
        decode: (json, at) =>
          json === null
            ? []
            : createListSchema(findJsonRpcSchema("TaskPushNotificationConfig")).decode(json, at),
      },
      (configs) => ({ configs }),
    ),
    Security: SCOPES_BY_SCHEME_SCHEMA,
    SecuritySchemeType: createKindSchema("apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"),
    ApiKeyLocation: { ...createKindSchema("query", "header", "cookie"), emptyValue: "header" },
  },
  {
    ...COMMON_CONVERSIONS,
    Part: fromPart03,
    SendMessageConfiguration: createConfigurationConversion(true),
    TaskPushNotificationConfig: fromTaskPushConfig03,
    CreateTaskPushNotificationConfigRequest: (config: TaskPushConfig03) => {
      const { id = DEFAULT_PUSH_CONFIG_ID, ...rest } = fromTaskPushConfig03(config);
      return { ...rest, id };
    },
    // A missing configuration id selects the first configuration of the task.
    GetTaskPushNotificationConfigRequest: ({ taskId, id = "" }: Partial<PushConfigIds>) => ({ taskId, id }),
    ListTaskPushNotificationConfigsRequest: ({ taskId }: Partial<PushConfigIds>) => ({
      taskId,
      pageSize: PUSH_CONFIG_LIST_PAGE_SIZE,
    }),
    SecurityScheme: fromSecurityScheme03,
    OAuthFlows: fromOAuthFlows03,
  },
);

function fromTaskPushConfig03({
  taskId,
  pushNotificationConfig,
}: TaskPushConfig03): TaskPushNotificationConfig {
  return { ...pushNotificationConfig, taskId };
}

const jsonRpcDecoder = createOperationDecoder(
  { ...OPERATION_MESSAGES, ...UNSUPPORTED_OPERATIONS, GetExtendedAgentCard: ["Empty", "AgentCard"] },
  findJsonRpcSchema,
);

/** Decodes the parameters of a 0.3 JSON-RPC request. */
export const decodeParams: OperationDecoder["decodeParams"] = jsonRpcDecoder.decodeParams;

/** Decodes a 0.3 result, or one event of a 0.3 stream. */
export const decodeResult: OperationDecoder["decodeResult"] = jsonRpcDecoder.decodeResult;

/** Decodes the agent card of a 0.3 agent. */
export function decodeCard(json: unknown): AgentCard {
  return decodeResponseTolerantly(findJsonRpcSchema("AgentCard"), json, "card") as AgentCard;
}
