import type { JsonObject, Part } from "../../protocol/index.ts";
import { createCheckedSchema, createConvertingSchema } from "../composite-schemas.ts";
import { createMessageSchemas, type FindSchema } from "../object-schema.ts";
import { createOperationDecoder, type OperationDecoder } from "../operation-messages.ts";
import type { DecodingSchema } from "../proto-json-schema.ts";
import { bytesSchema, createEnumSchema, stringSchema } from "../scalar-schemas.ts";
import {
  ANY_TO_EMPTY_OBJECT_SCHEMA,
  findSchema as findSchemaV1,
  HISTORY_LENGTH_SCHEMA,
  ROLE_SCHEMA,
} from "../v1/decode.ts";
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
import { PROTO_ENUMS, PROTO_MESSAGES, PROTO_OPERATION_MESSAGES } from "./messages.ts";
import { fromProtoFileBytes } from "./proto-file-bytes.ts";

// The proto of 0.3 identifies tasks and push configurations by resource names. A task id may contain slashes. The id of
// a configuration must not contain one.
const TASK_NAME_PATTERN = /^tasks\/(.+)$/s;
const PUSH_CONFIG_NAME_PATTERN = /^tasks\/(.+)\/pushNotificationConfigs\/([^/]+)$/s;

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
