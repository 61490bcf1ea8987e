import type {
  JsonObject,
  Message,
  Part,
  SendMessageConfiguration,
  SendMessageRequest,
} from "../protocol/index.ts";
import type { CallOptions } from "./transport/http.ts";

/** Content for an agent: text, parts, or a message that has at least `parts`. */
export type MessageInput = string | readonly Part[] | (Pick<Message, "parts"> & Partial<Message>);

/** Options for sending a message. */
export interface SendOptions extends CallOptions {
  /** The task to continue, for example a task in state INPUT_REQUIRED. */
  readonly taskId?: string;
  /** The conversation that the new task belongs to. */
  readonly contextId?: string;
  /**
   * The message id. Default: a random UUID. An agent that deduplicates accepts the same id from the same
   * caller only once.
   */
  readonly messageId?: string;
  readonly configuration?: SendMessageConfiguration;
  /** Metadata of the request. Metadata of the message belongs in the input message. */
  readonly metadata?: JsonObject;
}

/** Builds a `SendMessage` request from an input and its options. */
export function toSendMessageRequest(
  input: MessageInput,
  options: SendOptions,
  tenant: string | undefined,
): SendMessageRequest {
  const { taskId, contextId, messageId, configuration, metadata } = options;
  const fields =
    typeof input === "string" ? { parts: [{ text: input }] } : isParts(input) ? { parts: [...input] } : input;
  const message: Message = { messageId: crypto.randomUUID(), role: "ROLE_USER", ...fields };
  if (messageId !== undefined) message.messageId = messageId;
  if (taskId !== undefined) message.taskId = taskId;
  if (contextId !== undefined) message.contextId = contextId;
  return {
    ...(tenant === undefined ? {} : { tenant }),
    message,
    ...(configuration ? { configuration } : {}),
    ...(metadata ? { metadata } : {}),
  };
}

function isParts(input: Exclude<MessageInput, string>): input is readonly Part[] {
  return Array.isArray(input);
}
