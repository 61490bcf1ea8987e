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
import { decodeRequestStrictly, type DecodingContext } from "../proto-json-schema.ts";
import { createCheckedSchema } from "../composite-schemas.ts";
import { defineMessages } from "../message-notation.ts";
import { createMessageSchemas } from "../object-schema.ts";
import { stringSchema } from "../scalar-schemas.ts";

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
  const { skill, input } = decodeParams("CreateTaskParams", params) as CreateTaskParams;
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
  return { id: (decodeParams("GetTaskParams", params) as GetTaskParams).taskId };
}

/**
 * Decodes the parameters of `message/send` and `message/stream`. The function `createMessageId` creates an
 * id if the request contains no message id.
 */
export function decodeSendMessage(params: unknown, createMessageId: () => string): SendMessageRequest {
  const { message, messageId, thread, taskId, metadata } = decodeParams(
    "SendMessageParams",
    params,
  ) as SendMessageParams;
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

function decodeParams(name: string, params: unknown): unknown {
  return decodeRequestStrictly(findSchema(name), params, "params");
}

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

/** Members of a message of the simple dialect, after its parts are decoded. */
interface SimpleMessage {
  role: string;
  parts: Part[];
  metadata?: JsonObject;
}

/** Parameters of `message/send` and `message/stream`. */
interface SendMessageParams {
  message: SimpleMessage;
  messageId?: string;
  thread?: Thread;
  taskId?: string;
  metadata?: JsonObject;
}

interface CreateTaskParams {
  skill: string;
  input: JsonObject;
}

type Thread = { threadId?: string };
type GetTaskParams = { taskId: string };

const MESSAGES = defineMessages<{
  CreateTaskParams: CreateTaskParams;
  GetTaskParams: GetTaskParams;
  SendMessageParams: SendMessageParams;
  Thread: Thread;
  Message: SimpleMessage;
  Part: FlatPart;
}>()({
  CreateTaskParams: "skill+ input:Struct+",
  GetTaskParams: "taskId+",
  SendMessageParams: "message:Message+ messageId thread:Thread taskId metadata:Struct",
  Thread: "threadId",
  Message: "role:UserRole+ parts:Part[]+ metadata:Struct",
  // A part is a flat object. A 0.3 part, in contrast, has a nested `file` object.
  Part: "kind:PartKind+ text? data:Value? url? bytes:bytes? name mimeType metadata:Struct",
});

const PART_KINDS = ["text", "data", "file", "image"];

// Placeholder for a rejected part, so its list is not also reported as empty. The output of a rejected
// request is never used.
const SUBSTITUTE_FOR_REJECTED_PART: Part = { text: "" };

const findSchema = createMessageSchemas(
  MESSAGES,
  {
    UserRole: createCheckedSchema(stringSchema, (role) =>
      role === "user" ? undefined : `must be "user" in a request`,
    ),
    PartKind: createCheckedSchema(stringSchema, (kind) =>
      PART_KINDS.includes(kind) ? undefined : `must be one of ${PART_KINDS.join(", ")}`,
    ),
  },
  { Part: (part: FlatPart, at) => fromFlatPart(part, at) ?? SUBSTITUTE_FOR_REJECTED_PART },
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
