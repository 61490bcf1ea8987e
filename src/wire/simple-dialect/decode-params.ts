import {
  type GetTaskRequest,
  isObject,
  type JsonObject,
  type Message,
  type Part,
  type SendMessageRequest,
  type SubscribeToTaskRequest,
  type JsonValue,
} from "../../protocol/index.ts";
import { decodeRequestStrictly, type DecodingContext, type DecodingSchema } from "../proto-json-schema.ts";
import { createCheckedSchema, createConvertingSchema, createListSchema } from "../composite-schemas.ts";
import { createObjectSchema, optional, required } from "../object-schema.ts";
import { bytesSchema, stringSchema, structSchema, valueSchema } from "../scalar-schemas.ts";

/** JSON-RPC methods of the simple dialect. */
export type SimpleMethod = "tasks/create" | "tasks/get" | "message/send" | "message/stream";

/**
 * Returns the method of a simple-dialect request, or `undefined` if the request belongs to A2A 0.3. Only
 * the simple dialect has the method `tasks/create`. The simple dialect and 0.3 share the other methods,
 * but use different parameters.
 * - The simple dialect identifies a task by `taskId`, but 0.3 identifies a task by `id`.
 * - In the simple dialect, the message id is outside the message. In 0.3, the message contains the message
 *   id and a `kind`.
 *
 * A request with a member that the simple dialect does not define counts as a 0.3 request. A request also
 * counts as a 0.3 request if it is valid in both protocols or in neither. For example, a message without
 * any id is a 0.3 message if `autoMessageId` is set.
 */
export function findSimpleMethodOfRequest(
  method: string,
  params: unknown,
  autoMessageId = false,
): SimpleMethod | undefined {
  if (method === "tasks/create") return method;
  if (!isObject(params)) return undefined;
  if (method === "tasks/get") return "taskId" in params && !("id" in params) ? method : undefined;
  if (method !== "message/send" && method !== "message/stream") return undefined;
  const { message } = params;
  const isSimple =
    hasOnlyKeys(params, ["message", "messageId", "thread", "taskId", "metadata"]) &&
    isObject(message) &&
    "parts" in message &&
    hasOnlyKeys(message, ["role", "parts", "metadata"]) &&
    (!autoMessageId || !hasOnlyKeys(params, ["message", "metadata"]));
  return isSimple ? method : undefined;
}

function hasOnlyKeys(json: JsonObject, names: readonly string[]): boolean {
  return Object.keys(json).every((name) => names.includes(name));
}

/**
 * Converts the parameters of `tasks/create` to a message. The message contains a text part with the
 * question of the input, and then a data part with the complete input. The metadata of the message contains
 * the skill. The parameter `messageId` is the id of the new message.
 */
export function decodeCreateTask(params: unknown, messageId: string): SendMessageRequest {
  const { skill, input } = decodeRequestStrictly(CREATE_TASK_PARAMS_SCHEMA, params, "params");
  const metadata = { [SKILL_METADATA_KEY]: skill };
  return {
    message: { messageId, role: "ROLE_USER", parts: createInputParts(input), metadata },
    configuration: { returnImmediately: true },
  };
}

const SKILL_METADATA_KEY = "skill";
/** Names of the input members that usually contain the question. */
const QUESTION_INPUT_MEMBER_NAMES = ["query", "text", "message", "prompt", "question"];

/**
 * Most agents read only text, so the question of the input becomes a text part. A data part with the
 * complete input follows the text part.
 */
function createInputParts(input: JsonObject): Part[] {
  const text = findQuestionInInput(input);
  return text === undefined ? [{ data: input }] : [{ text }, { data: input }];
}

/**
 * Returns the question that an input contains. If no member has a question name such as `query`, returns the
 * only non-empty text of the input.
 */
function findQuestionInInput(input: JsonObject): string | undefined {
  const question = QUESTION_INPUT_MEMBER_NAMES.map((name) => input[name]).find(isNonEmptyString);
  if (question !== undefined) return question;
  const [text, ...others] = Object.values(input).filter(isNonEmptyString);
  return others.length === 0 ? text : undefined;
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/**
 * Returns the skill and the input of a task that `tasks/create` created. Returns an empty object if the
 * task was not created by `tasks/create`.
 */
export function extractSkillAndInputFromMessage(firstMessage: Message | undefined): {
  skill?: string;
  input?: JsonObject;
} {
  const skill = firstMessage?.metadata?.[SKILL_METADATA_KEY];
  const lastPart = firstMessage?.parts.at(-1);
  if (typeof skill !== "string" || !lastPart || !("data" in lastPart) || !isObject(lastPart.data)) return {};
  return { skill, input: lastPart.data };
}

/** Decodes the parameters of `tasks/get` and of the event stream of a task. */
export function decodeGetTask(params: unknown): GetTaskRequest & SubscribeToTaskRequest {
  return { id: decodeRequestStrictly(GET_TASK_PARAMS_SCHEMA, params, "params").taskId };
}

/**
 * Decodes the parameters of `message/send` and `message/stream`. The function `createMessageId` creates an
 * id if the request contains no message id.
 */
export function decodeSendMessage(params: unknown, createMessageId: () => string): SendMessageRequest {
  const { message, messageId, thread, taskId, metadata } = decodeRequestStrictly(
    SEND_MESSAGE_PARAMS_SCHEMA,
    params,
    "params",
  );
  return {
    message: {
      messageId: messageId ?? createMessageId(),
      role: "ROLE_USER",
      parts: message.parts,
      ...(thread?.threadId === undefined ? {} : { contextId: thread.threadId }),
      ...(taskId === undefined ? {} : { taskId }),
      ...(message.metadata ? { metadata: message.metadata } : {}),
    },
    ...(metadata ? { metadata } : {}),
  };
}

/** Parameters of `tasks/create`. */

interface CreateTaskParams {
  skill: string;
  input: JsonObject;
}

/** Schema for the parameters of `tasks/create`. */
const CREATE_TASK_PARAMS_SCHEMA: DecodingSchema<CreateTaskParams> = createObjectSchema<CreateTaskParams>({
  skill: required(stringSchema),
  input: required(structSchema),
});

/** Parameters of `tasks/get`. */
interface GetTaskParams {
  taskId: string;
}

/** Schema for the parameters of `tasks/get`. */
const GET_TASK_PARAMS_SCHEMA: DecodingSchema<GetTaskParams> = createObjectSchema<GetTaskParams>({
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
const SEND_MESSAGE_PARAMS_SCHEMA: DecodingSchema<SendMessageParams> = createObjectSchema<SendMessageParams>({
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
