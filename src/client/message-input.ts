import type {
  JsonObject,
  Message,
  Part,
  SendMessageConfiguration,
  SendMessageRequest,
} from "../protocol/index.ts";
import type { CallOptions } from "./transport/http.ts";

/** What can be said to an agent: text, parts, or a message of which only the parts are needed. */
export type MessageInput = string | readonly Part[] | (Pick<Message, "parts"> & Partial<Message>);

export interface SendOptions extends CallOptions {
  /** Goes on with that task, for example when it is INPUT_REQUIRED. */
  readonly taskId?: string;
  /** Puts the new task into that conversation. */
  readonly contextId?: string;
  /** Default: a random UUID. An agent that deduplicates takes the same id from the same caller only once. */
  readonly messageId?: string;
  readonly configuration?: SendMessageConfiguration;
  /** Metadata of the request; that of the message goes into a message given as input. */
  readonly metadata?: JsonObject;
}

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
