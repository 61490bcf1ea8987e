import type { Run } from "../../engine/index.ts";
import { A2AError, accepts, type Message, textOf } from "../../protocol/index.ts";
import {
  type Card,
  CARD_EXTENSION,
  CARD_MEDIA_TYPE,
  cardIn,
  type ControlCard,
  type QueryCard,
  type ResultCard,
  type TaskCard,
} from "../../cards/index.ts";
import { MAX_HOPS } from "../../cards/index.ts";
import type { AnyProtocol } from "./office.ts";
import { defined } from "./defined.ts";
import { isControlCard } from "./stopping.ts";

/** What comes in, read: each function gives a card that may come here, or throws INVALID_PARAMS with why it may not. */

/** Whether whoever asks is answered in cards: it wants the extension or sends a card, and takes what it is sent. */
export function speaksCards({ extensions, message, configuration }: Run): boolean {
  const takes = accepts(configuration, CARD_MEDIA_TYPE) || accepts(configuration, "application/json");
  return takes && (extensions.includes(CARD_EXTENSION) || isInCards(message));
}

/**
 * The card of a message that begins a task, whatever it is. Plain text is a task in the name of whoever may give this
 * role one. A card without an id has that of its message.
 */
export function cardOfMessage(message: Message, role: string, protocol: AnyProtocol): Card {
  const { messageId } = message;
  const card_id = /^[A-Za-z0-9_.:-]{1,128}$/.test(messageId) ? messageId : undefined;
  const card = cardIn(message);
  if (card) return { ...card, metadata: { ...defined({ card_id }), ...card.metadata } };
  const from = protocol.routes.find(({ to, types }) => to === role && types.includes("task"))?.from;
  if (from === undefined)
    throw refusal("message", `nobody may give the ${role} a task; add a route if somebody should`);
  const metadata = { ...defined({ card_id }), written_by: role };
  return protocol.createTaskCard({ from, to: role, task: textOf(message.parts), metadata });
}

/** A card that begins something here. `hops`: how often the problem has been handed on. */
export function checkGiven(
  card: Card,
  role: string,
  protocol: AnyProtocol,
  hops: number,
): TaskCard | QueryCard {
  const given: Card = protocol.parse(card);
  if (given.recipient !== role) {
    throw refusal(
      "recipient",
      `is ${given.recipient}, and this is the ${role}; send the card to whom it is for`,
    );
  }
  if (hops > MAX_HOPS) {
    throw refusal("card", `was handed on ${hops} times, which looks like a loop; ${MAX_HOPS} are allowed`);
  }
  if (isGiven(given)) return given;
  const { message_type } = given;
  throw refusal(
    "message_type",
    `${message_type} begins nothing; send a task, or name the task that it is about`,
  );
}

/** The answer to a question, as a card or in words; undefined in words: it is for the caller to write it down. */
export function answerIn(message: Message, asked: QueryCard, protocol: AnyProtocol): ResultCard | undefined {
  const card = cardIn(message);
  if (!card) return undefined;
  const answer: Card = protocol.parse(card);
  const { in_reply_to = asked.metadata.card_id } = answer.metadata;
  if (isResult(answer) && in_reply_to === asked.metadata.card_id) return answer;
  throw refusal("card", `is no result that replies to ${asked.metadata.card_id}`);
}

/** A control card from whoever gave the work; undefined for a message that has none. */
export function controlIn(message: Message, given: Card, protocol: AnyProtocol): ControlCard | undefined {
  const card = cardIn(message);
  if (!isControlCard(card)) return undefined;
  protocol.parse(card);
  if (card.sender === given.sender) return card;
  throw refusal("sender", `is ${card.sender}, and the task is ${given.sender}'s`);
}

/** The card of a message as far as it can be read, for whoever only wants to know who sent it. */
export function cardOrNone(message: Message): Card | undefined {
  try {
    return cardIn(message);
  } catch {
    return undefined;
  }
}

/** Also with a card that cannot be read: whoever sent it knows what a card is. */
function isInCards(message: Message): boolean {
  if (message.extensions?.includes(CARD_EXTENSION)) return true;
  try {
    return cardIn(message) !== undefined;
  } catch {
    return true;
  }
}

function isGiven(card: Card): card is TaskCard | QueryCard {
  return card.message_type === "task" || card.message_type === "query";
}

function isResult(card: Card): card is ResultCard {
  return card.message_type === "result";
}

function refusal(field: string, description: string): A2AError {
  return A2AError.invalidParams([{ field, description }]);
}
