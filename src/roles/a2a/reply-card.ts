import {
  A2AError,
  isTerminal,
  type JsonValue,
  type Message,
  type Part,
  type SendMessageResponse,
  type Task,
  type TaskState,
  getText,
} from "../../protocol/index.ts";
import {
  type MessageCard,
  findCardInMessage,
  type CardTokenUsage,
  type CoreCardErrorType,
  type ErrorCard,
  PLANNER,
  type QueryCard,
  type ResultCard,
} from "../../cards/index.ts";
import { sumAdkUsage } from "./adk-usage.ts";
import type { CardJournal } from "./card-journal.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { NO_USAGE } from "./usage-tracker.ts";

/** What became of a card that was sent: a question, or the end of it. */
export type ReplyCard = ResultCard | ErrorCard | QueryCard;

/**
 * The reply to `sent` in what its agent answered, as a card: its own, or one in its name for what it said in words, as
 * agents do that know nothing of cards. Cards that are not to be taken are a `protocol_violation`.
 */
export function parseReplyCard(
  answer: SendMessageResponse,
  sent: MessageCard,
  journal: CardJournal,
): ReplyCard {
  try {
    const card = findClosingCard(answer);
    if (card) return validateReplyCard(card, sent, journal);
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    return createProtocolViolationCard(error.message, sent, journal);
  }
  return "task" in answer
    ? createReplyCardFromTask(answer.task, sent, journal)
    : createResultCardFromParts(answer.message.parts, sent, journal);
}

/** An error in the name of whom `sent` went to. */
export function createErrorReplyCard(
  sent: MessageCard,
  journal: CardJournal,
  error_type: string,
  content: string,
  retryable = false,
): ErrorCard {
  const metadata = { ...buildReplyMetadata(sent), error_type, ...(retryable ? { retryable } : {}) };
  return journal.createCardOnBehalfOf(sent.recipient, "error", content, metadata);
}

/** The cards that an agent told of on the way, in order: in what it has said of a task before the last. */
export function collectRelayedCards({ history = [] }: Task): MessageCard[] {
  return history.flatMap((message) => findRelayedCard(message) ?? []);
}

/** The card that a message of an agent tells of; what is none is nobody's concern here. */
export function findRelayedCard(message: Message): MessageCard | undefined {
  if (message.role !== "ROLE_AGENT") return undefined;
  try {
    return findCardInMessage(message);
  } catch {
    return undefined;
  }
}

/** The card with which a task ended or waits: in its status, or the newest among its artifacts. */
function findClosingCard(answer: SendMessageResponse): MessageCard | undefined {
  if ("message" in answer) return findCardInMessage(answer.message);
  const { task } = answer;
  const { state, message } = task.status;
  const inStatus = message && findCardInMessage(message);
  if (inStatus || !isTerminal(state)) return inStatus;
  for (const artifact of task.artifacts?.toReversed() ?? []) {
    const card = findCardInMessage(artifact);
    if (card) return card;
  }
  return undefined;
}

/** The card, when it is one that may come as a reply. */
function validateReplyCard(card: MessageCard, sent: MessageCard, journal: CardJournal): ReplyCard {
  const { sender, recipient, message_type: type, metadata } = card;
  if (type !== "error") journal.runtime.protocol.parse(card);
  if (sender !== sent.recipient || recipient !== sent.sender) {
    return createProtocolViolationCard(`it came from ${sender} for ${recipient}`, sent, journal);
  }
  if (type !== "result" && type !== "error" && type !== "query") {
    return createProtocolViolationCard(`a ${type} card is no reply`, sent, journal);
  }
  const { in_reply_to = sent.metadata.card_id } = metadata;
  if (type !== "query" && in_reply_to !== sent.metadata.card_id) {
    return createProtocolViolationCard(`it replies to another card, ${in_reply_to}`, sent, journal);
  }
  return (
    in_reply_to === undefined ? card : { ...card, metadata: { ...metadata, in_reply_to } }
  ) as ReplyCard;
}

function createProtocolViolationCard(reason: string, sent: MessageCard, journal: CardJournal): ErrorCard {
  return createErrorReplyCard(
    sent,
    journal,
    "protocol_violation",
    `The card of ${sent.recipient} was refused: ${reason}`,
  );
}

/** What a task says in words. */
function createReplyCardFromTask(task: Task, sent: MessageCard, journal: CardJournal): ReplyCard {
  const { state, message } = task.status;
  const text = renderPartsAsText(message?.parts ?? []);
  if (state === "TASK_STATE_COMPLETED") {
    const parts = task.artifacts?.flatMap((artifact) => artifact.parts) ?? [];
    const usage = sumAdkUsage(task.artifacts);
    return createResultCardFromParts(parts.length > 0 ? parts : (message?.parts ?? []), sent, journal, usage);
  }
  if (state === "TASK_STATE_INPUT_REQUIRED") {
    return journal.createCardOnBehalfOf(sent.recipient, "query", text, buildReplyMetadata(sent));
  }
  const [error_type, what, retryable] = ERRORS_BY_TASK_STATE[state];
  return createErrorReplyCard(sent, journal, error_type, text || `${sent.recipient} ${what}`, retryable);
}

type UnansweredTaskState = Exclude<TaskState, "TASK_STATE_COMPLETED" | "TASK_STATE_INPUT_REQUIRED">;

const STREAM_ENDED_EARLY = ["transport_error", "stopped talking before its task had ended", true] as const;

/** What it means that a task ended, or its stream did, in a state that is no answer. */
const ERRORS_BY_TASK_STATE: Readonly<
  Record<UnansweredTaskState, readonly [CoreCardErrorType | "auth_required", string, boolean]>
> = {
  TASK_STATE_SUBMITTED: STREAM_ENDED_EARLY,
  TASK_STATE_WORKING: STREAM_ENDED_EARLY,
  TASK_STATE_UNSPECIFIED: STREAM_ENDED_EARLY,
  TASK_STATE_AUTH_REQUIRED: ["auth_required", "wants to be authorized first", false],
  TASK_STATE_CANCELED: ["cancelled", "has cancelled the task", false],
  TASK_STATE_FAILED: ["solver_failed", "did not do the task", false],
  TASK_STATE_REJECTED: ["solver_failed", "refused the task", false],
};

function createResultCardFromParts(
  parts: readonly Part[],
  sent: MessageCard,
  journal: CardJournal,
  usage: CardTokenUsage = NO_USAGE,
): ResultCard {
  const status = sent.recipient === PLANNER ? "completed" : "success";
  const tokens = usage.input_tokens + usage.output_tokens;
  const metadata = { ...buildReplyMetadata(sent), tokens, usage, status };
  return journal.createCardOnBehalfOf(sent.recipient, "result", renderPartsAsText(parts), metadata);
}

function buildReplyMetadata({ metadata: { card_id, turn } }: MessageCard): {
  in_reply_to?: string;
  turn?: number;
} {
  return omitUndefined({ in_reply_to: card_id, turn });
}

/** All text; where there is none, data as JSON. */
function renderPartsAsText(parts: readonly Part[]): string {
  const text = getText(parts);
  if (text !== "") return text;
  const data = parts.flatMap((part): JsonValue[] => ("data" in part ? [part.data] : []));
  return data.length === 0 ? "" : JSON.stringify(data.length === 1 ? data[0] : data);
}
