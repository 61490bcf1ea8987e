import { omitUndefined } from "../../../base/usage-checks/index.ts";
import type { AgentMessage, Run } from "../../../engine/index.ts";
import { A2AError, acceptsMediaType, getText, type Message } from "../../../protocol/index.ts";
import {
  type ControlCard,
  findCardInMessage,
  MAX_PROBLEM_FORWARDS,
  MESSAGE_CARD_EXTENSION_URI,
  MESSAGE_CARD_MEDIA_TYPE,
  type MessageCard,
  type QueryCard,
  type ResultCard,
  type TaskCard,
  toCardParts,
} from "../../index.ts";
import { type AnyCardProtocol, isControlCard } from "./role-runtime.ts";
import type { TaskUpdateEvent, TaskUpdateState } from "./durable-turn.ts";

/**
 * Returns whether the reply to an incoming message must be a message card. The sender of the message must
 * accept the media type of message cards, and must request the extension or send a message card.
 */
export function shouldReplyInCards({ extensions, message, configuration }: Run): boolean {
  const acceptsCards =
    acceptsMediaType(configuration, MESSAGE_CARD_MEDIA_TYPE) ||
    acceptsMediaType(configuration, "application/json");
  return acceptsCards && (extensions.includes(MESSAGE_CARD_EXTENSION_URI) || isCardMessage(message));
}

/**
 * Parses the message card that starts a task. The function converts plain text to a task card. The sender of
 * this task card is the first role that may send tasks to the receiving role. If the message card has no id,
 * the function uses the id of the A2A message.
 */
export function parseRequestCard(message: Message, role: string, protocol: AnyCardProtocol): MessageCard {
  const { messageId } = message;
  const card_id = /^[A-Za-z0-9_.:-]{1,128}$/.test(messageId) ? messageId : undefined;
  const card = findCardInMessage(message);
  if (card) return { ...card, metadata: { ...omitUndefined({ card_id }), ...card.metadata } };
  const from = protocol.routes.find(({ to, types }) => to === role && types.includes("task"))?.from;
  if (from === undefined)
    throw createInvalidParamsError(
      "message",
      `no role may send a task to the ${role}; add a route to the card protocol`,
    );
  const metadata = { ...omitUndefined({ card_id }), written_by: role };
  return protocol.createTaskCard({ from, to: role, task: getText(message.parts), metadata });
}

/**
 * Validates and returns a message card that starts work. `hops` is the number of roles that have already
 * forwarded the problem. Throws `INVALID_PARAMS` if this role is not allowed to accept the message card.
 */
export function requireValidRequestCard(
  card: MessageCard,
  role: string,
  protocol: AnyCardProtocol,
  hops: number,
): TaskCard | QueryCard {
  const parsed: MessageCard = protocol.parse(card);
  if (parsed.recipient !== role) {
    throw createInvalidParamsError(
      "recipient",
      `is ${parsed.recipient}, but this agent is the ${role}; send the card to its recipient`,
    );
  }
  if (hops > MAX_PROBLEM_FORWARDS) {
    throw createInvalidParamsError(
      "card",
      `was forwarded ${hops} times, which indicates a loop; at most ${MAX_PROBLEM_FORWARDS} are allowed`,
    );
  }
  if (isRequestCard(parsed, protocol)) return parsed as TaskCard | QueryCard;
  const { message_type } = parsed;
  throw createInvalidParamsError(
    "message_type",
    `${message_type} cannot start a task; send a task card, or set the taskId of the message`,
  );
}

/**
 * Parses the message card that answers a query, or returns `undefined` for a plain text answer. Throws
 * `INVALID_PARAMS` if the message card is not a result card for the query.
 */
export function parseAnswerCard(
  message: Message,
  query: QueryCard,
  protocol: AnyCardProtocol,
): ResultCard | undefined {
  const card = findCardInMessage(message);
  if (!card) return undefined;
  const answer: MessageCard = protocol.parse(card);
  const { in_reply_to = query.metadata.card_id } = answer.metadata;
  if (isResultCard(answer) && in_reply_to === query.metadata.card_id) return answer;
  throw createInvalidParamsError("card", `is not a result that replies to ${query.metadata.card_id}`);
}

/**
 * Parses a control card from the requester, or returns `undefined` if the message contains no control card.
 * Throws `INVALID_PARAMS` if another role sent the control card.
 */
export function parseControlCard(
  message: Message,
  parsed: MessageCard,
  protocol: AnyCardProtocol,
): ControlCard | undefined {
  const card = findCardInMessage(message);
  if (!isControlCard(card)) return undefined;
  protocol.parse(card);
  if (card.sender === parsed.sender) return card;
  throw createInvalidParamsError("sender", `is ${card.sender}, but the task was sent by ${parsed.sender}`);
}

/** Returns the message card in an A2A message, or `undefined` if the message card is missing or invalid. */
export function findReadableCard(message: Message): MessageCard | undefined {
  try {
    return findCardInMessage(message);
  } catch {
    return undefined;
  }
}

/** Returns whether an A2A message contains a message card, valid or not. */
function isCardMessage(message: Message): boolean {
  if (message.extensions?.includes(MESSAGE_CARD_EXTENSION_URI)) return true;
  try {
    return findCardInMessage(message) !== undefined;
  } catch {
    return true;
  }
}

/** Returns whether a card starts work: a task, a query, or a card of a custom type that ends no task. */
function isRequestCard({ message_type }: MessageCard, { types }: AnyCardProtocol): boolean {
  if (["result", "error", "control"].includes(message_type)) return false;
  return types.some(({ name, isTerminal }) => name === message_type && !isTerminal);
}

/** Returns whether a card of this type ends work: a result, an error, or a custom type that ends a task. */
export function isReplyType(type: string, { types }: AnyCardProtocol): boolean {
  return types.some(({ name, isTerminal }) => name === type && isTerminal) && type !== "control";
}

function isResultCard(card: MessageCard): card is ResultCard {
  return card.message_type === "result";
}

function createInvalidParamsError(field: string, description: string): A2AError {
  return A2AError.invalidParams([{ field, description }]);
}

/** Converts message cards to A2A events that contain either message cards or plain text. */
export class CardEventEncoder {
  /**
   * Whether the requester accepts message cards. If the requester does not accept message cards, the role
   * does not relay message cards from other roles.
   */
  readonly usesCards: boolean;

  /** `usesCards` is true if the requester requests the message card extension or sends message cards. */
  constructor(usesCards: boolean) {
    this.usesCards = usesCards;
  }

  /** Encodes a message card as a new state of the task, such as progress, a query, or a rejection. */
  encodeStatus(state: TaskUpdateState, card: MessageCard): TaskUpdateEvent {
    return { status: { state, message: this.#createMessage(card) } };
  }

  /** Encodes the final message card of a task, either a result or an error. */
  encodeFinal(card: MessageCard, wasStopped: boolean): TaskUpdateEvent[] {
    const { message_type: type, metadata, content } = card;
    const status = "status" in metadata ? metadata["status"] : undefined;
    if (type === "error" || status === "error")
      return [this.encodeStatus(wasStopped ? "TASK_STATE_CANCELED" : "TASK_STATE_FAILED", card)];
    // A partial result of a stopped role is an artifact of a canceled task.
    const state = wasStopped && status === "partial" ? "TASK_STATE_CANCELED" : "TASK_STATE_COMPLETED";
    const end: TaskUpdateEvent = { status: { state } };
    // An artifact needs at least one part (A2A §5.7), so an empty text result has no artifact.
    if (!this.usesCards && content === "") return [end];
    const { messageId: artifactId = metadata.card_id ?? "result-card", ...message } =
      this.#createMessage(card);
    return [{ artifact: { artifactId, name: this.usesCards ? "result-card" : "result", ...message } }, end];
  }

  #createMessage(card: MessageCard): Pick<AgentMessage, "messageId" | "parts" | "extensions"> {
    if (!this.usesCards) return { parts: [{ text: formatCardText(card) }] };
    const messageId = omitUndefined({ messageId: card.metadata.card_id });
    return { ...messageId, parts: toCardParts(card), extensions: [MESSAGE_CARD_EXTENSION_URI] };
  }
}

/**
 * Returns the content of a message card as text. For a query card, the text also lists the options after the
 * content.
 */
export function formatCardText({ content, metadata }: MessageCard): string {
  const { options } = metadata as { options?: readonly string[] };
  return options?.length ? `${content} (${options.join(" | ")})` : content;
}
