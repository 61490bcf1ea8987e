import type { JsonObject, JsonValue, Part } from "../../protocol/index.ts";
import { createCheckedSchema, createConvertingSchema, createListSchema } from "../composite-schemas.ts";
import { createObjectSchema, optional, required } from "../object-schema.ts";
import { type DecodingContext, type DecodingSchema } from "../proto-json-schema.ts";
import { bytesSchema, stringSchema, structSchema, valueSchema } from "../scalar-schemas.ts";

/** Parameters of `tasks/create`. */

interface CreateTaskParams {
  skill: string;
  input: JsonObject;
}

/** Schema for the parameters of `tasks/create`. */
export const CREATE_TASK_PARAMS_SCHEMA: DecodingSchema<CreateTaskParams> =
  createObjectSchema<CreateTaskParams>({
    skill: required(stringSchema),
    input: required(structSchema),
  });

/** Parameters of `tasks/get`. */
interface GetTaskParams {
  taskId: string;
}

/** Schema for the parameters of `tasks/get`. */
export const GET_TASK_PARAMS_SCHEMA: DecodingSchema<GetTaskParams> = createObjectSchema<GetTaskParams>({
  taskId: required(stringSchema),
});

/**
 * Schema for a part of the simple dialect, which is a flat object. A 0.3 part, in contrast, has a nested
 * `file` object.
 */
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

const FLAT_PART_SCHEMA: DecodingSchema<FlatPart> = createObjectSchema<FlatPart>({
  kind: required(
    createCheckedSchema(stringSchema, (kind) =>
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

// Placeholder for a rejected part, so its list is not also reported as empty. The output of a rejected
// request is never used.
const SUBSTITUTE_FOR_REJECTED_PART: Part = { text: "" };

const PART_SCHEMA: DecodingSchema<Part> = createConvertingSchema(
  FLAT_PART_SCHEMA,
  (part, at) => fromFlatPart(part, at) ?? SUBSTITUTE_FOR_REJECTED_PART,
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
  // The media type is the only member of a 1.0 part that identifies an image.
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

/** Parameters of `message/send` and `message/stream`. */
interface SendMessageParams {
  message: SimpleMessage;
  messageId?: string;
  thread?: { threadId?: string };
  taskId?: string;
  metadata?: JsonObject;
}

/** Schema for the parameters of `message/send` and `message/stream`. */
export const SEND_MESSAGE_PARAMS_SCHEMA: DecodingSchema<SendMessageParams> =
  createObjectSchema<SendMessageParams>({
    message: required(
      createObjectSchema<SimpleMessage>({
        role: required(
          createCheckedSchema(stringSchema, (role) =>
            role === "user" ? undefined : `must be "user" in a request`,
          ),
        ),
        parts: required(createListSchema(PART_SCHEMA)),
        metadata: structSchema,
      }),
    ),
    messageId: stringSchema,
    thread: createObjectSchema<{ threadId?: string }>({ threadId: stringSchema }),
    taskId: stringSchema,
    metadata: structSchema,
  });
