import {
  AGENT_STEERING_EXTENSION_URI,
  type JsonObject,
  type Message,
  type Part,
  type SendMessageConfiguration,
  type SendMessageRequest,
  STEERING_SIGNAL_KEY,
  type SteeringSignal,
} from "../protocol/index.ts";
import { defineOptionNames } from "../base/usage-checks/index.ts";
import { CALL_OPTION_NAMES, type CallOptions } from "./transport/transport.ts";

/** Input for an agent: a text, a list of parts, or a message that has at least `parts`. */
export type MessageInput = string | readonly Part[] | (Pick<Message, "parts"> & Partial<Message>);

/** Options for sending a message. */
export interface SendOptions extends CallOptions {
  /** The id of the task to continue, for example a task in state INPUT_REQUIRED. */
  readonly taskId?: string | undefined;
  /** The id of the context that the new task belongs to. */
  readonly contextId?: string | undefined;
  /**
   * Id of the message, which is a random UUID by default. An agent that deduplicates messages accepts the
   * same id from the same caller only once.
   */
  readonly messageId?: string;
  /** The `configuration` of the request, such as `returnImmediately` or a webhook. */
  readonly configuration?: SendMessageConfiguration;
  /**
   * Effect of the message on an agent that is working on the task `taskId`. With `steer`, the agent uses the
   * message in its current work. With `interrupt`, the agent stops its work and continues with the message.
   * The client rejects the message with `UNSUPPORTED_OPERATION` if the agent card does not declare the
   * ability. By default, the agent decides.
   */
  readonly steering?: SteeringSignal;
  /** Metadata of the `SendMessage` request. The message itself has separate metadata. */
  readonly metadata?: JsonObject;
}

const assertKnownOptions = defineOptionNames<SendOptions>()(
  "send",
  CALL_OPTION_NAMES,
  "configuration contextId messageId metadata steering taskId",
);

/** Builds a `SendMessage` request from a message input and the send options. */
export function toSendMessageRequest(
  input: MessageInput,
  options: SendOptions,
  tenant: string | undefined,
): SendMessageRequest {
  assertKnownOptions(options);
  const { taskId, contextId, messageId, steering, configuration, metadata } = options;
  const fields =
    typeof input === "string" ? { parts: [{ text: input }] } : isParts(input) ? { parts: [...input] } : input;
  const message: Message = { messageId: crypto.randomUUID(), role: "ROLE_USER", ...fields };
  if (messageId !== undefined) message.messageId = messageId;
  if (taskId !== undefined) message.taskId = taskId;
  if (contextId !== undefined) message.contextId = contextId;
  if (steering !== undefined) {
    message.metadata = { ...message.metadata, [STEERING_SIGNAL_KEY]: steering };
    message.extensions = [...(message.extensions ?? []), AGENT_STEERING_EXTENSION_URI];
  }
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
