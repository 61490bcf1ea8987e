import type { Run } from "../../engine/index.ts";
import { A2AError, acceptsMediaType, type Message, getText } from "../../protocol/index.ts";
import {
  type MessageCard,
  MESSAGE_CARD_EXTENSION_URI,
  MESSAGE_CARD_MEDIA_TYPE,
  findCardInMessage,
  type ControlCard,
  type QueryCard,
  type ResultCard,
  type TaskCard,
} from "../../cards/index.ts";
import { MAX_HOPS } from "../../cards/index.ts";
import type { AnyCardProtocol } from "./role-runtime.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { isControlCard } from "./stop-reason.ts";

/** What comes in, read: each function gives a card that may come here, or throws INVALID_PARAMS with why it may not. */

/** Whether whoever asks is answered in cards: it wants the extension or sends a card, and takes what it is sent. */
export function shouldReplyInCards({ extensions, message, configuration }: Run): boolean {
  const acceptsCards =
    acceptsMediaType(configuration, MESSAGE_CARD_MEDIA_TYPE) ||
    acceptsMediaType(configuration, "application/json");
  return acceptsCards && (extensions.includes(MESSAGE_CARD_EXTENSION_URI) || isCardMessage(message));
}

/**
 * The card of a message that begins a task, whatever it is. Plain text is a task in the name of whoever may give this
 * role one. A card without an id has that of its message.
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
      `nobody may give the ${role} a task; add a route if somebody should`,
    );
  const metadata = { ...omitUndefined({ card_id }), written_by: role };
  return protocol.createTaskCard({ from, to: role, task: getText(message.parts), metadata });
}

/** A card that begins something here. `hops`: how often the problem has been handed on. */
export function requireRequestCard(
  card: MessageCard,
  role: string,
  protocol: AnyCardProtocol,
  hops: number,
): TaskCard | QueryCard {
  const parsed: MessageCard = protocol.parse(card);
  if (parsed.recipient !== role) {
    throw createInvalidParamsError(
      "recipient",
      `is ${parsed.recipient}, and this is the ${role}; send the card to whom it is for`,
    );
  }
  if (hops > MAX_HOPS) {
    throw createInvalidParamsError(
      "card",
      `was handed on ${hops} times, which looks like a loop; ${MAX_HOPS} are allowed`,
    );
  }
  if (isRequestCard(parsed)) return parsed;
  const { message_type } = parsed;
  throw createInvalidParamsError(
    "message_type",
    `${message_type} begins nothing; send a task, or name the task that it is about`,
  );
}

/** The answer to a question, as a card or in words; undefined in words: it is for the caller to write it down. */
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
  throw createInvalidParamsError("card", `is no result that replies to ${query.metadata.card_id}`);
}

/** A control card from whoever gave the work; undefined for a message that has none. */
export function parseControlCard(
  message: Message,
  parsed: MessageCard,
  protocol: AnyCardProtocol,
): ControlCard | undefined {
  const card = findCardInMessage(message);
  if (!isControlCard(card)) return undefined;
  protocol.parse(card);
  if (card.sender === parsed.sender) return card;
  throw createInvalidParamsError("sender", `is ${card.sender}, and the task is ${parsed.sender}'s`);
}

/** The card of a message as far as it can be read, for whoever only wants to know who sent it. */
export function findReadableCard(message: Message): MessageCard | undefined {
  try {
    return findCardInMessage(message);
  } catch {
    return undefined;
  }
}

/** Also with a card that cannot be read: whoever sent it knows what a card is. */
function isCardMessage(message: Message): boolean {
  if (message.extensions?.includes(MESSAGE_CARD_EXTENSION_URI)) return true;
  try {
    return findCardInMessage(message) !== undefined;
  } catch {
    return true;
  }
}

function isRequestCard(card: MessageCard): card is TaskCard | QueryCard {
  return card.message_type === "task" || card.message_type === "query";
}

function isResultCard(card: MessageCard): card is ResultCard {
  return card.message_type === "result";
}

function createInvalidParamsError(field: string, description: string): A2AError {
  return A2AError.invalidParams([{ field, description }]);
}
