import {
  A2AError,
  isTerminal,
  type JsonValue,
  type Message,
  type Part,
  type SendMessageResponse,
  type Task,
  type TaskState,
  textOf,
} from "../../protocol/index.ts";
import {
  type Card,
  cardIn,
  type CardUsage,
  type CoreErrorType,
  type ErrorCard,
  PLANNER,
  type QueryCard,
  type ResultCard,
} from "../../cards/index.ts";
import { adkUsage } from "./adk-usage.ts";
import type { Correspondence } from "./correspondence.ts";
import { defined } from "./defined.ts";
import { NOTHING } from "./spending.ts";

/** What became of a card that was sent: a question, or the end of it. */
export type Reply = ResultCard | ErrorCard | QueryCard;

/**
 * The reply to `sent` in what its agent answered, as a card: its own, or one in its name for what it said in words, as
 * agents do that know nothing of cards. Cards that are not to be taken are a `protocol_violation`.
 */
export function replyIn(answer: SendMessageResponse, sent: Card, cards: Correspondence): Reply {
  try {
    const card = closingCard(answer);
    if (card) return accepted(card, sent, cards);
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    return refused(error.message, sent, cards);
  }
  return "task" in answer ? spokenIn(answer.task, sent, cards) : spoken(answer.message.parts, sent, cards);
}

/** An error in the name of whom `sent` went to. */
export function errorFor(
  sent: Card,
  cards: Correspondence,
  error_type: string,
  content: string,
  retryable = false,
): ErrorCard {
  const about = { ...replying(sent), error_type, ...(retryable ? { retryable } : {}) };
  return cards.inNameOf(sent.recipient, "error", content, about);
}

/** The cards that an agent told of on the way, in order: in what it has said of a task before the last. */
export function toldIn({ history = [] }: Task): Card[] {
  return history.flatMap((message) => toldBy(message) ?? []);
}

/** The card that a message of an agent tells of; what is none is nobody's concern here. */
export function toldBy(message: Message): Card | undefined {
  if (message.role !== "ROLE_AGENT") return undefined;
  try {
    return cardIn(message);
  } catch {
    return undefined;
  }
}

/** The card with which a task ended or waits: in its status, or the newest among its artifacts. */
function closingCard(answer: SendMessageResponse): Card | undefined {
  if ("message" in answer) return cardIn(answer.message);
  const { task } = answer;
  const { state, message: said } = task.status;
  const inStatus = said && cardIn(said);
  if (inStatus || !isTerminal(state)) return inStatus;
  for (const artifact of task.artifacts?.toReversed() ?? []) {
    const card = cardIn(artifact);
    if (card) return card;
  }
  return undefined;
}

/** The card, when it is one that may come as a reply. */
function accepted(card: Card, sent: Card, cards: Correspondence): Reply {
  const { sender, recipient, message_type: type, metadata } = card;
  if (type !== "error") cards.office.protocol.parse(card);
  if (sender !== sent.recipient || recipient !== sent.sender) {
    return refused(`it came from ${sender} for ${recipient}`, sent, cards);
  }
  if (type !== "result" && type !== "error" && type !== "query") {
    return refused(`a ${type} card is no reply`, sent, cards);
  }
  const { in_reply_to = sent.metadata.card_id } = metadata;
  if (type !== "query" && in_reply_to !== sent.metadata.card_id) {
    return refused(`it replies to another card, ${in_reply_to}`, sent, cards);
  }
  return (in_reply_to === undefined ? card : { ...card, metadata: { ...metadata, in_reply_to } }) as Reply;
}

function refused(why: string, sent: Card, cards: Correspondence): ErrorCard {
  return errorFor(sent, cards, "protocol_violation", `The card of ${sent.recipient} was refused: ${why}`);
}

/** What a task says in words. */
function spokenIn(task: Task, sent: Card, cards: Correspondence): Reply {
  const { state, message } = task.status;
  const words = wordsOf(message?.parts ?? []);
  if (state === "TASK_STATE_COMPLETED") {
    const parts = task.artifacts?.flatMap((artifact) => artifact.parts) ?? [];
    const usage = adkUsage(task.artifacts);
    return spoken(parts.length > 0 ? parts : (message?.parts ?? []), sent, cards, usage);
  }
  if (state === "TASK_STATE_INPUT_REQUIRED") {
    return cards.inNameOf(sent.recipient, "query", words, replying(sent));
  }
  const [error_type, what, retryable] = ERRORS[state];
  return errorFor(sent, cards, error_type, words || `${sent.recipient} ${what}`, retryable);
}

type Unanswered = Exclude<TaskState, "TASK_STATE_COMPLETED" | "TASK_STATE_INPUT_REQUIRED">;

const QUIET = ["transport_error", "stopped talking before its task had ended", true] as const;

/** What it means that a task ended, or its stream did, in a state that is no answer. */
const ERRORS: Readonly<Record<Unanswered, readonly [CoreErrorType | "auth_required", string, boolean]>> = {
  TASK_STATE_SUBMITTED: QUIET,
  TASK_STATE_WORKING: QUIET,
  TASK_STATE_UNSPECIFIED: QUIET,
  TASK_STATE_AUTH_REQUIRED: ["auth_required", "wants to be authorized first", false],
  TASK_STATE_CANCELED: ["cancelled", "has cancelled the task", false],
  TASK_STATE_FAILED: ["solver_failed", "did not do the task", false],
  TASK_STATE_REJECTED: ["solver_failed", "refused the task", false],
};

function spoken(
  parts: readonly Part[],
  sent: Card,
  cards: Correspondence,
  usage: CardUsage = NOTHING,
): ResultCard {
  const status = sent.recipient === PLANNER ? "completed" : "success";
  const tokens = usage.input_tokens + usage.output_tokens;
  const about = { ...replying(sent), tokens, usage, status };
  return cards.inNameOf(sent.recipient, "result", wordsOf(parts), about);
}

function replying({ metadata: { card_id, turn } }: Card): { in_reply_to?: string; turn?: number } {
  return defined({ in_reply_to: card_id, turn });
}

/** All text; where there is none, data as JSON. */
function wordsOf(parts: readonly Part[]): string {
  const text = textOf(parts);
  if (text !== "") return text;
  const data = parts.flatMap((part): JsonValue[] => ("data" in part ? [part.data] : []));
  return data.length === 0 ? "" : JSON.stringify(data.length === 1 ? data[0] : data);
}
