import type {
  GetTaskRequest,
  JsonObject,
  Message,
  Part,
  SendMessageRequest,
  SubscribeToTaskRequest,
} from "../../protocol/index.ts";
import { isObject } from "../error-details.ts";
import { decodeStrictly } from "../proto-json.ts";
import { CREATE_PARAMS, GET_PARAMS, SEND_PARAMS } from "./schema.ts";

/** The guide's methods. */
export type SimpleMethod = "tasks/create" | "tasks/get" | "message/send" | "message/stream";

/**
 * The method of a request that is the guide's and not 0.3's. `tasks/create` is only the guide's. The others are both's, and
 * told apart by what only one has: a task is named by `taskId` or by `id`; a message has its id beside it or, with its
 * `kind`, within. Whatever has a member that the guide does not know is 0.3's, and so is what neither would take, or both:
 * a message without any id, with `autoMessageId`.
 */
export function simpleMethodOf(
  method: string,
  params: unknown,
  autoMessageId = false,
): SimpleMethod | undefined {
  if (method === "tasks/create") return method;
  if (!isObject(params)) return undefined;
  if (method === "tasks/get") return "taskId" in params && !("id" in params) ? method : undefined;
  if (method !== "message/send" && method !== "message/stream") return undefined;
  const { message } = params;
  const isGuides =
    hasOnly(params, ["message", "messageId", "thread", "taskId", "metadata"]) &&
    isObject(message) &&
    "parts" in message &&
    hasOnly(message, ["role", "parts", "metadata"]) &&
    (!autoMessageId || !hasOnly(params, ["message", "metadata"]));
  return isGuides ? method : undefined;
}

function hasOnly(json: JsonObject, names: readonly string[]): boolean {
  return Object.keys(json).every((name) => names.includes(name));
}

/**
 * `tasks/create` as a message: the input as data, its text as text before it, and the skill as metadata of the message.
 * `messageId`: a new one.
 */
export function readCreate(params: unknown, messageId: string): SendMessageRequest {
  const { skill, input } = decodeStrictly(CREATE_PARAMS, params, "params");
  const metadata = { [SKILL]: skill };
  return {
    message: { messageId, role: "ROLE_USER", parts: partsOf(input), metadata },
    configuration: { returnImmediately: true },
  };
}

const SKILL = "skill";
/** What guides and their readers call the member that holds the question. */
const TEXTS = ["query", "text", "message", "prompt", "question"];

/** Most agents read text, so an input's question is one; the whole input follows, for those that read more. */
function partsOf(input: JsonObject): Part[] {
  const text = textOf(input);
  return text === undefined ? [{ data: input }] : [{ text }, { data: input }];
}

/** The member that is named like a question, else the only text that there is. */
function textOf(input: JsonObject): string | undefined {
  const named = TEXTS.map((name) => input[name]).find(isText);
  if (named !== undefined) return named;
  const [text, ...more] = Object.values(input).filter(isText);
  return more.length === 0 ? text : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The skill and the input with which `tasks/create` began a task; nothing for a task that a message began. */
export function createdWith(first: Message | undefined): { skill?: string; input?: JsonObject } {
  const skill = first?.metadata?.[SKILL];
  const last = first?.parts.at(-1);
  if (typeof skill !== "string" || !last || !("data" in last) || !isObject(last.data)) return {};
  return { skill, input: last.data };
}

export function readGet(params: unknown): GetTaskRequest & SubscribeToTaskRequest {
  return { id: decodeStrictly(GET_PARAMS, params, "params").taskId };
}

/** `message/send` and `message/stream`. `newId` is asked when the request has no id for its message. */
export function readSend(params: unknown, newId: () => string): SendMessageRequest {
  const { message, messageId, thread, taskId, metadata } = decodeStrictly(SEND_PARAMS, params, "params");
  return {
    message: {
      messageId: messageId ?? newId(),
      role: "ROLE_USER",
      parts: message.parts,
      ...(thread?.threadId === undefined ? {} : { contextId: thread.threadId }),
      ...(taskId === undefined ? {} : { taskId }),
      ...(message.metadata ? { metadata: message.metadata } : {}),
    },
    ...(metadata ? { metadata } : {}),
  };
}
