import type {
  GetTaskRequest,
  JsonObject,
  Message,
  Part,
  SendMessageRequest,
  SubscribeToTaskRequest,
} from "../../protocol/index.ts";
import { isObject } from "../error-details.ts";
import { decodeStrictly } from "../proto-json-schema.ts";
import {
  CREATE_TASK_PARAMS_SCHEMA,
  GET_TASK_PARAMS_SCHEMA,
  SEND_MESSAGE_PARAMS_SCHEMA,
} from "./params-schemas.ts";

/** The guide's methods. */
export type SimpleMethod = "tasks/create" | "tasks/get" | "message/send" | "message/stream";

/**
 * The method of a request that is the guide's and not 0.3's. `tasks/create` is only the guide's. The others are both's, and
 * told apart by what only one has: a task is named by `taskId` or by `id`; a message has its id beside it or, with its
 * `kind`, within. Whatever has a member that the guide does not know is 0.3's, and so is what neither would take, or both:
 * a message without any id, with `autoMessageId`.
 */
export function findSimpleMethod(
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
    hasOnlyKeys(params, ["message", "messageId", "thread", "taskId", "metadata"]) &&
    isObject(message) &&
    "parts" in message &&
    hasOnlyKeys(message, ["role", "parts", "metadata"]) &&
    (!autoMessageId || !hasOnlyKeys(params, ["message", "metadata"]));
  return isGuides ? method : undefined;
}

function hasOnlyKeys(json: JsonObject, names: readonly string[]): boolean {
  return Object.keys(json).every((name) => names.includes(name));
}

/**
 * `tasks/create` as a message: the input as data, its text as text before it, and the skill as metadata of the message.
 * `messageId`: a new one.
 */
export function decodeCreateTask(params: unknown, messageId: string): SendMessageRequest {
  const { skill, input } = decodeStrictly(CREATE_TASK_PARAMS_SCHEMA, params, "params");
  const metadata = { [SKILL_KEY]: skill };
  return {
    message: { messageId, role: "ROLE_USER", parts: createInputParts(input), metadata },
    configuration: { returnImmediately: true },
  };
}

const SKILL_KEY = "skill";
/** What guides and their readers call the member that holds the question. */
const QUESTION_KEYS = ["query", "text", "message", "prompt", "question"];

/** Most agents read text, so an input's question is one; the whole input follows, for those that read more. */
function createInputParts(input: JsonObject): Part[] {
  const text = findQuestionText(input);
  return text === undefined ? [{ data: input }] : [{ text }, { data: input }];
}

/** The member that is named like a question, else the only text that there is. */
function findQuestionText(input: JsonObject): string | undefined {
  const named = QUESTION_KEYS.map((name) => input[name]).find(isNonEmptyString);
  if (named !== undefined) return named;
  const [text, ...more] = Object.values(input).filter(isNonEmptyString);
  return more.length === 0 ? text : undefined;
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The skill and the input with which `tasks/create` began a task; nothing for a task that a message began. */
export function extractCreateParams(first: Message | undefined): { skill?: string; input?: JsonObject } {
  const skill = first?.metadata?.[SKILL_KEY];
  const last = first?.parts.at(-1);
  if (typeof skill !== "string" || !last || !("data" in last) || !isObject(last.data)) return {};
  return { skill, input: last.data };
}

export function decodeGetTask(params: unknown): GetTaskRequest & SubscribeToTaskRequest {
  return { id: decodeStrictly(GET_TASK_PARAMS_SCHEMA, params, "params").taskId };
}

/** `message/send` and `message/stream`. `newId` is asked when the request has no id for its message. */
export function decodeSendMessage(params: unknown, newId: () => string): SendMessageRequest {
  const { message, messageId, thread, taskId, metadata } = decodeStrictly(
    SEND_MESSAGE_PARAMS_SCHEMA,
    params,
    "params",
  );
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
