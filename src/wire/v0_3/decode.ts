import {
  type AgentCard,
  isObject,
  type JsonObject,
  type OAuthFlows,
  type Part,
  type SecurityScheme,
  type TaskPushNotificationConfig,
} from "../../protocol/index.ts";
import {
  createConvertingSchema,
  createListSchema,
  createMapSchema,
  createValidateOnlySchema,
} from "../composite-schemas.ts";
import { createMessageSchemas, type FindSchema } from "../object-schema.ts";
import { createOperationDecoder, type OperationDecoder } from "../operation-messages.ts";
import { decodeResponseTolerantly, type DecodingContext, type DecodingSchema } from "../proto-json-schema.ts";
import { createMappedEnumSchema, stringSchema } from "../scalar-schemas.ts";
import { HISTORY_LENGTH_SCHEMA } from "../v1/decode.ts";
import { OPERATION_MESSAGES } from "../v1/messages.ts";
import {
  COMMON_CONVERSIONS,
  COMMON_TYPES,
  createConfigurationConversion,
  createUserRoleSchema,
  DEFAULT_PUSH_CONFIG_ID,
  type PushConfig,
  type PushConfigIds,
  UNSUPPORTED_OPERATIONS,
} from "./decode-conversions.ts";
import { invertTable, ROLE_NAMES, TASK_STATE_NAMES } from "./enum-names.ts";
import { JSON_RPC_MESSAGES } from "./messages.ts";
import { unwrapNonObjectData } from "./wrapped-non-object-data.ts";

interface TaskPushConfig03 {
  readonly taskId: string;
  readonly pushNotificationConfig: PushConfig;
}

/**
 * Maximum number of push notification configurations per task, and page size of the list. One page
 * contains all configurations of a task, because 0.3 has no pagination.
 */
const PUSH_CONFIG_LIST_PAGE_SIZE = 100;

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
