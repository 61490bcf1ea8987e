import type { JsonObject, JsonValue, Part } from "../../protocol/index.ts";
import {
  withCheck,
  withConversion,
  createListSchema,
  createMessageSchema,
  optional,
  required,
  type DecodingContext,
  type Schema,
} from "../proto-json-schema.ts";
import { bytesSchema, stringSchema, structSchema, valueSchema } from "../scalar-schemas.ts";

/** What the parameters of the dialect's methods are, read strictly, every violation with its path. */

export interface CreateTaskParams {
  skill: string;
  input: JsonObject;
}

export const CREATE_TASK_PARAMS_SCHEMA: Schema<CreateTaskParams> = createMessageSchema<CreateTaskParams>({
  skill: required(stringSchema),
  input: required(structSchema),
});

export interface GetTaskParams {
  taskId: string;
}

export const GET_TASK_PARAMS_SCHEMA: Schema<GetTaskParams> = createMessageSchema<GetTaskParams>({
  taskId: required(stringSchema),
});

/** The guide's parts are flat, where 0.3 has a `file` within. */
interface FlatPart {
  kind: string;
  text?: string;
  data?: JsonValue;
  url?: string;
  bytes?: string;
  name?: string;
  mimeType?: string;
  metadata?: JsonObject;
}

const PART_KINDS = ["text", "data", "file", "image"];

const FLAT_PART_SCHEMA: Schema<FlatPart> = createMessageSchema<FlatPart>({
  kind: required(
    withCheck(stringSchema, (kind) =>
      PART_KINDS.includes(kind) ? undefined : `must be one of ${PART_KINDS.join(", ")}`,
    ),
  ),
  text: optional(stringSchema),
  data: optional(valueSchema),
  url: optional(stringSchema),
  bytes: optional(bytesSchema),
  name: stringSchema,
  mimeType: stringSchema,
  metadata: structSchema,
});

// Stands for a refused part in an output that nobody will see, so that its list is not called empty, too.
const REFUSED_PART: Part = { text: "" };

const PART_SCHEMA: Schema<Part> = withConversion(
  FLAT_PART_SCHEMA,
  (part, at) => fromFlatPart(part, at) ?? REFUSED_PART,
);

function fromFlatPart(
  { kind, text, data, url, bytes: raw, name, mimeType, metadata }: FlatPart,
  at: DecodingContext,
): Part | undefined {
  const common = {
    ...(metadata ? { metadata } : {}),
    ...(name === undefined ? {} : { filename: name }),
    ...(mimeType === undefined ? {} : { mediaType: mimeType }),
  };
  if (kind === "text") return text === undefined ? at.addViolation(`needs "text"`) : { text, ...common };
  if (kind === "data") return data === undefined ? at.addViolation(`needs "data"`) : { data, ...common };
  // Nothing else would say that it is one.
  if (kind === "image" && !mimeType?.startsWith("image/"))
    return at.addViolation(`needs the "mimeType" of the image, such as "image/png"`);
  if (url !== undefined && raw === undefined) return { url, ...common };
  if (raw !== undefined && url === undefined) return { raw, ...common };
  return at.addViolation(`needs either "url" or, as base64, "bytes"`);
}

interface SimpleMessage {
  role: string;
  parts: Part[];
  metadata?: JsonObject;
}

export interface SendMessageParams {
  message: SimpleMessage;
  messageId?: string;
  thread?: { threadId?: string };
  taskId?: string;
  metadata?: JsonObject;
}

export const SEND_MESSAGE_PARAMS_SCHEMA: Schema<SendMessageParams> = createMessageSchema<SendMessageParams>({
  message: required(
    createMessageSchema<SimpleMessage>({
      role: required(
        withCheck(stringSchema, (role) => (role === "user" ? undefined : `must be "user" in a request`)),
      ),
      parts: required(createListSchema(PART_SCHEMA)),
      metadata: structSchema,
    }),
  ),
  messageId: stringSchema,
  thread: createMessageSchema<{ threadId?: string }>({ threadId: stringSchema }),
  taskId: stringSchema,
  metadata: structSchema,
});
