import { isObject, A2AError, type FieldViolation, type JsonObject, type Part } from "../../protocol/index.ts";
import { parseBoundedJson } from "../../wire/index.ts";
import { decodeContent, renderPartsAsText, type RequestFieldViolationReporter } from "./chat-parts.ts";

/** A chat message with its content as A2A parts. */
export interface ChatMessage {
  readonly role: string;
  readonly parts: Part[];
}

/** The fields of a chat completion request that the façade uses. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** The id of the end user, for API keys that several users share. */
  readonly user: string;
  /** The context id and task id of the conversation that the client explicitly continues. */
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  /** Whether the task is canceled if the client disconnects before the task ends. */
  readonly cancelOnDisconnect: boolean;
  /** The remaining metadata of the chat request, which the agent receives. */
  readonly metadata: JsonObject;
}

const CHAT_ROLES = new Set(["system", "developer", "user", "assistant", "tool", "function"]);

/**
 * Decodes the body of a chat completion request. Throws a single error with all violations of the request.
 * Throws PAYLOAD_TOO_LARGE if the body has more than `maxJsonValues` values.
 */
export function decodeChatRequest(text: string, maxJsonValues?: number): ChatRequest {
  let json: unknown;
  try {
    json = parseBoundedJson(text, maxJsonValues);
  } catch (error) {
    if (error instanceof A2AError) throw error;
    throw new A2AError("PARSE_ERROR", "The body is not valid JSON. Send a chat completion request.");
  }
  if (!isObject(json)) throw new A2AError("INVALID_REQUEST", "The body is not a JSON object.");
  const violations: FieldViolation[] = [];
  const reportViolation: RequestFieldViolationReporter = (field, description) =>
    void violations.push({ field, description });

  const { model, stream, stream_options, user } = json;
  if (typeof model !== "string")
    reportViolation("model", "is not the name of an agent; GET /v1/models lists them");
  const messages = decodeMessages(json["messages"], reportViolation);
  const metadata = decodeChatMetadata(json["metadata"], reportViolation);
  validateChatRequestOptions(json, reportViolation);
  if (violations.length > 0) throw A2AError.invalidParams(violations);

  const { context_id, task_id, cancel_on_disconnect, ...agentMetadata } = metadata;
  return {
    model: model as string,
    messages,
    stream: stream === true,
    includeUsage: isObject(stream_options) && stream_options["include_usage"] === true,
    user: typeof user === "string" ? user : "",
    contextId: context_id,
    taskId: task_id,
    cancelOnDisconnect: cancel_on_disconnect === "true",
    metadata: agentMetadata,
  };
}

function decodeMessages(value: unknown, reportViolation: RequestFieldViolationReporter): ChatMessage[] {
  const messages = (Array.isArray(value) ? value : []).flatMap((message: unknown, index): ChatMessage[] => {
    const field = `messages[${index}]`;
    const { role, content } = isObject(message) ? message : {};
    if (typeof role === "string" && CHAT_ROLES.has(role))
      return [{ role, parts: decodeContent(content, `${field}.content`, reportViolation) }];
    reportViolation(`${field}.role`, `is not one of ${[...CHAT_ROLES].join(", ")}`);
    return [];
  });
  if (messages.at(-1)?.role === "assistant" || !messages.some(({ role }) => role === "user"))
    reportViolation("messages", "do not end with a message to the agent; add a user message");
  return messages;
}

function decodeChatMetadata(
  metadata: unknown,
  reportViolation: RequestFieldViolationReporter,
): Record<string, string> {
  if (metadata === undefined || metadata === null) return {};
  if (isObject(metadata) && Object.values(metadata).every((value) => typeof value === "string"))
    return metadata as Record<string, string>;
  reportViolation("metadata", "is not an object with string values");
  return {};
}

/**
 * Rejects chat options that no agent can guarantee. The façade ignores sampling options, which only tune a
 * model.
 */
function validateChatRequestOptions(
  { n, response_format, tool_choice }: Record<string, unknown>,
  reportViolation: RequestFieldViolationReporter,
): void {
  if (n !== undefined && n !== null && n !== 1) reportViolation("n", "is not 1; an agent returns one answer");
  const format = isObject(response_format) ? response_format["type"] : undefined;
  if (format !== undefined && format !== "text")
    reportViolation("response_format", "is not text; describe the format in the message");
  if (tool_choice !== undefined && tool_choice !== null && tool_choice !== "auto" && tool_choice !== "none")
    reportViolation("tool_choice", "requires a call of your tools; agents only call their own tools");
}

/**
 * Returns whether messages with this role contain instructions. Clients repeat the instructions with every
 * request, often with the current time. An agent receives the instructions only once.
 */
export function isInstructionRole(role: string): boolean {
  return role === "system" || role === "developer";
}

/** Returns the parts of all messages after the agent's last answer, except for instructions. */
export function extractNewParts(messages: readonly ChatMessage[]): Part[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.slice(last + 1).flatMap(({ role, parts }) => (isInstructionRole(role) ? [] : parts));
}

/**
 * Returns the parts for an agent that does not know the conversation: a transcript of earlier messages, and
 * the user's new message.
 */
export function buildTranscriptParts(messages: readonly ChatMessage[]): Part[] {
  const firstNew = messages.findLastIndex(({ role }) => role !== "user") + 1;
  const transcript = messages
    .slice(0, firstNew)
    .map(({ role, parts }) => `[${role}]\n${renderPartsAsText(parts).trim()}\n\n`)
    .join("");
  const newParts = messages.slice(firstNew).flatMap(({ parts }) => parts);
  return transcript === "" ? newParts : [{ text: `Earlier messages:\n\n${transcript}[user]\n` }, ...newParts];
}
