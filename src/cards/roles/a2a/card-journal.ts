import { omitUndefined } from "../../../base/usage-checks/index.ts";
import {
  type CardA2ARequestInfo,
  type CardMetadata,
  type CardRelayAndTraceMetadata,
  type ControlCard,
  type ErrorCard,
  type MessageCard,
  parseCard,
  type QueryCard,
  type ResultCard,
  type TaskCard,
  type CardTokenUsage,
  type CoreCardErrorType,
  findCardInMessage,
  PLANNER,
} from "../../index.ts";
import {
  truncateText,
  A2AError,
  type Artifact,
  getText,
  isTerminal,
  type JsonObject,
  type JsonValue,
  type Part,
  type SendMessageResponse,
  type Task,
  type TaskState,
} from "../../../protocol/index.ts";
import { type RoleRuntime, findReadableCard, isReplyType } from "./role-runtime.ts";
import type { QueryAnswer } from "../role.ts";
import { addUsage, NO_USAGE, sumInputAndOutputTokens } from "../role-model.ts";

/** Returns the metadata that links a reply to the request card. */
export function buildInReplyToMetadata(card: MessageCard | undefined): Pick<CardMetadata, "in_reply_to"> {
  return omitUndefined({ in_reply_to: card?.metadata.card_id });
}

/** Metadata that all message cards of one problem share. */
type SharedProblemCardMetadata = Pick<CardMetadata, "run_id" | "sample_id" | "dataset">;

/**
 * Maximum number of characters in unvalidated content of a message card. The content is limited to 256 KiB,
 * and each character has at most three bytes.
 */
const MAX_CARD_CONTENT_CHARACTERS = 80_000;

interface CardsByType {
  readonly task: TaskCard;
  readonly result: ResultCard;
  readonly query: QueryCard;
  readonly control: ControlCard;
  readonly error: ErrorCard;
}

/** Listener that receives message cards in addition to the recorder. */
interface CardListener {
  /** Called with each message card that the role sends or receives, including relayed message cards. */
  onCard(card: MessageCard): void;
}

/**
 * Creates the message cards of one role for one problem, and records all sent, received, and relayed message
 * cards.
 */
export class CardJournal {
  readonly runtime: RoleRuntime;
  readonly routingMetadata: CardRelayAndTraceMetadata;
  readonly #sharedMetadata: SharedProblemCardMetadata;
  readonly #runId: string;
  readonly #listener: CardListener | undefined;
  /** Ids of all recorded message cards. */
  readonly #seenCardIds = new Set<string>();

  /** `first` is the message card that starts the work, or `undefined` if that card is invalid. */
  constructor(
    runtime: RoleRuntime,
    first: MessageCard | undefined,
    routingMetadata: CardRelayAndTraceMetadata,
    listener?: CardListener,
  ) {
    this.runtime = runtime;
    this.routingMetadata = routingMetadata;
    this.#listener = listener;
    const { run_id, sample_id, dataset } = first?.metadata ?? {};
    this.#runId = run_id ?? routingMetadata.runId ?? "";
    this.#sharedMetadata = omitUndefined({ run_id, sample_id, dataset });
  }

  get experimentRunId(): string {
    return this.#runId;
  }

  get sampleId(): string | undefined {
    return this.#sharedMetadata.sample_id;
  }

  /**
   * Creates a card of this role. Throws INVALID_PARAMS if the card is invalid, or if the card protocol has no route for
   * it. Error cards require no route.
   */
  createCard<Type extends keyof CardsByType>(
    type: Type,
    to: string,
    content: string,
    metadata: CardMetadata,
  ): CardsByType[Type] {
    const { protocol, role: from } = this.runtime;
    const card =
      type === "error"
        ? this.#createCardWithoutRouteCheck(type, from, to, content, metadata)
        : protocol.createCard(type, { from, to, content, metadata: this.#addIdAndSharedMetadata(metadata) });
    return card as CardsByType[Type];
  }

  /**
   * Creates a message card on behalf of an agent whose reply contains no message card. `written_by` contains
   * the name of the role that created the message card.
   */
  createCardOnBehalfOf<Type extends keyof CardsByType>(
    sender: string,
    type: Type,
    content: string,
    metadata: CardMetadata,
  ): CardsByType[Type] {
    const { role } = this.runtime;
    const own = { ...metadata, written_by: role };
    return this.#createCardWithoutRouteCheck(type, sender, role, content, own) as CardsByType[Type];
  }

  /**
   * Records a message card that this role sent or received, or that another role relayed. Each card id is recorded only
   * once. With `isRelayed`, the listener receives the card, too.
   */
  record(card: MessageCard, a2a: CardA2ARequestInfo, isRelayed: boolean): void {
    const { recorder, role } = this.runtime;
    const { card_id } = card.metadata;
    if (card_id !== undefined && this.#seenCardIds.has(card_id)) return;
    if (card_id !== undefined) this.#seenCardIds.add(card_id);
    recorder?.recordCard({
      run_id: this.#runId,
      ...omitUndefined({ sample_id: this.sampleId }),
      dir: card.sender === role ? "out" : card.recipient === role ? "in" : "relayed",
      at_role: role,
      a2a,
      card,
    });
    if (isRelayed) this.#listener?.onCard(card);
  }

  #createCardWithoutRouteCheck(
    type: string,
    sender: string,
    recipient: string,
    content: string,
    metadata: CardMetadata,
  ): MessageCard {
    return parseCard({
      sender,
      recipient,
      message_type: type,
      content: truncateText(content.toWellFormed(), MAX_CARD_CONTENT_CHARACTERS),
      metadata: this.#addIdAndSharedMetadata(metadata),
      timestamp: new Date(this.runtime.clock.now()).toISOString(),
    });
  }

  #addIdAndSharedMetadata(metadata: CardMetadata): CardMetadata {
    return { card_id: this.runtime.newId(), ...this.#sharedMetadata, ...metadata };
  }
}

/**
 * Calls a callback with a query and returns the answer. If the callback throws, the function reports the
 * error to the observer and returns `undefined`.
 */
export async function getQueryAnswerOrReportError(
  answer: () => QueryAnswer | undefined | Promise<QueryAnswer | undefined>,
  { runtime: { observer, role } }: CardJournal,
): Promise<QueryAnswer | undefined> {
  try {
    return await answer();
  } catch (error) {
    observer.onError?.({ where: role, error });
    return undefined;
  }
}

/**
 * Creates the result card that answers a query. If there is no answer, the result card has the status
 * `error`, and the role that sent the query continues.
 */
export function createQueryAnswerCard(
  { sender, metadata: { card_id: in_reply_to } }: QueryCard,
  answer: QueryAnswer | undefined,
  journal: CardJournal,
  spent: CardMetadata = {},
): ResultCard {
  const metadata = {
    ...omitUndefined({ in_reply_to }),
    ...toSelectedQueryOptionsMetadata(answer?.selected),
    ...spent,
  };
  const text = answer?.result ?? `${journal.runtime.role} has no answer to this query; continue without one`;
  return journal.createCard("result", sender, text, { ...metadata, status: answer ? "success" : "error" });
}

/** Returns message card metadata with the selected query options. */
export function toSelectedQueryOptionsMetadata(selected: QueryAnswer["selected"]): CardMetadata {
  if (selected === undefined) return {};
  return { selected: typeof selected === "string" ? selected : [...selected] };
}

/** A reply to a message card, either a query, a final result, or an error. */
type ReplyCard = ResultCard | ErrorCard | QueryCard;

/**
 * Parses the reply to the message card `sent` from an A2A response. If the agent replied with plain text, the
 * function creates a message card from that text. If the message card is unacceptable, the function returns
 * the error `protocol_violation` instead.
 */
export function parseReplyCard(
  answer: SendMessageResponse,
  sent: MessageCard,
  journal: CardJournal,
): ReplyCard {
  try {
    const card = findReplyCardInResponse(answer);
    if (card) return toValidReplyOrViolationCard(card, sent, journal);
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    return createProtocolViolationCard(error.message, sent, journal);
  }
  return "task" in answer
    ? createReplyCardFromTask(answer.task, sent, journal)
    : createResultCardFromParts(answer.message.parts, sent, journal);
}

/** Creates the error card that replaces a missing reply to the message card `sent`. */
export function createErrorReplyCard(
  sent: MessageCard,
  journal: CardJournal,
  error_type: string,
  content: string,
  retryable = false,
): ErrorCard {
  const metadata = {
    ...buildInReplyToAndTurnMetadata(sent),
    error_type,
    ...(retryable ? { retryable } : {}),
  };
  return journal.createCardOnBehalfOf(sent.recipient, "error", content, metadata);
}

/** Returns the message cards in the history of a task, in order, including relayed cards. Ignores invalid cards. */
export function collectCardsInHistory({ history = [] }: Task): MessageCard[] {
  return history.flatMap((message) => findReadableCard(message) ?? []);
}

/** Returns the message card in the status of a task, or else in the newest artifact that has one. */
function findReplyCardInResponse(answer: SendMessageResponse): MessageCard | undefined {
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

/** Returns the message card if it is a valid reply to `sent`, or else the error `protocol_violation`. */
function toValidReplyOrViolationCard(card: MessageCard, sent: MessageCard, journal: CardJournal): ReplyCard {
  const { sender, recipient, message_type: type, metadata } = card;
  if (type !== "error") journal.runtime.protocol.parse(card);
  if (sender !== sent.recipient || recipient !== sent.sender) {
    return createProtocolViolationCard(
      `its sender is ${sender} and its recipient is ${recipient}`,
      sent,
      journal,
    );
  }
  if (type !== "query" && type !== "error" && !isReplyType(type, journal.runtime.protocol)) {
    return createProtocolViolationCard(`a ${type} card is not a reply`, sent, journal);
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
    `The card of ${sent.recipient} was rejected: ${reason}`,
  );
}

/** Creates the reply card for a task whose response contains no message card. */
function createReplyCardFromTask(task: Task, sent: MessageCard, journal: CardJournal): ReplyCard {
  const { state, message } = task.status;
  const text = renderPartsAsText(message?.parts ?? []);
  if (state === "TASK_STATE_COMPLETED") {
    const parts = task.artifacts?.flatMap((artifact) => artifact.parts) ?? [];
    const usage = sumAdkUsage(task.artifacts);
    return createResultCardFromParts(parts.length > 0 ? parts : (message?.parts ?? []), sent, journal, usage);
  }
  if (state === "TASK_STATE_INPUT_REQUIRED") {
    return journal.createCardOnBehalfOf(sent.recipient, "query", text, buildInReplyToAndTurnMetadata(sent));
  }
  const [error_type, what, retryable] = ERRORS_BY_TASK_STATE[state];
  return createErrorReplyCard(sent, journal, error_type, text || `${sent.recipient} ${what}`, retryable);
}

type UnansweredTaskState = Exclude<TaskState, "TASK_STATE_COMPLETED" | "TASK_STATE_INPUT_REQUIRED">;

const STREAM_ENDED_EARLY_ERROR = [
  "transport_error",
  "closed its stream before the task ended",
  true,
] as const;

/** Error type, explanation, and `retryable` flag for each task state that provides no answer. */
const ERRORS_BY_TASK_STATE: Readonly<
  Record<UnansweredTaskState, readonly [CoreCardErrorType | "auth_required", string, boolean]>
> = {
  TASK_STATE_SUBMITTED: STREAM_ENDED_EARLY_ERROR,
  TASK_STATE_WORKING: STREAM_ENDED_EARLY_ERROR,
  TASK_STATE_UNSPECIFIED: STREAM_ENDED_EARLY_ERROR,
  TASK_STATE_AUTH_REQUIRED: ["auth_required", "requires authorization", false],
  TASK_STATE_CANCELED: ["cancelled", "canceled the task", false],
  TASK_STATE_FAILED: ["solver_failed", "failed the task", false],
  TASK_STATE_REJECTED: ["solver_failed", "rejected the task", false],
};

function createResultCardFromParts(
  parts: readonly Part[],
  sent: MessageCard,
  journal: CardJournal,
  usage: CardTokenUsage = NO_USAGE,
): ResultCard {
  const status = sent.recipient === PLANNER ? "completed" : "success";
  const metadata = {
    ...buildInReplyToAndTurnMetadata(sent),
    tokens: sumInputAndOutputTokens(usage),
    usage,
    status,
  };
  return journal.createCardOnBehalfOf(sent.recipient, "result", renderPartsAsText(parts), metadata);
}

function buildInReplyToAndTurnMetadata(sent: MessageCard): Pick<CardMetadata, "in_reply_to" | "turn"> {
  return { ...buildInReplyToMetadata(sent), ...omitUndefined({ turn: sent.metadata.turn }) };
}

/** Returns the text of all message parts, or the data of the parts as JSON if no part contains text. */
function renderPartsAsText(parts: readonly Part[]): string {
  const text = getText(parts);
  if (text !== "") return text;
  const data = parts.flatMap((part): JsonValue[] => ("data" in part ? [part.data] : []));
  return data.length === 0 ? "" : JSON.stringify(data.length === 1 ? data[0] : data);
}

/** Key in the artifact metadata for the token usage that an ADK agent reports. */
const ADK_USAGE_KEY = "adk_usage_metadata";

/**
 * Returns the sum of the token usage on all artifacts of an ADK agent's task. Returns `NO_USAGE` if no
 * artifact contains token usage.
 */
function sumAdkUsage(artifacts: readonly Artifact[] = []): CardTokenUsage {
  const usages = artifacts.flatMap(({ metadata }) => parseAdkUsage(metadata?.[ADK_USAGE_KEY]) ?? []);
  return usages.reduce<CardTokenUsage | undefined>(addUsage, undefined) ?? NO_USAGE;
}

/**
 * Converts Gemini token counts to the token usage of a message card. Gemini's `candidatesTokenCount` excludes
 * thinking tokens, so the function adds `thoughtsTokenCount`.
 */
function parseAdkUsage(value: JsonValue | undefined): CardTokenUsage | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const counts: JsonObject = value;
  const count = (name: string): number | undefined => {
    const found = counts[name];
    return typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
  };
  const input_tokens = count("promptTokenCount");
  if (input_tokens === undefined) return undefined;
  const reasoning_output_tokens = count("thoughtsTokenCount");
  return {
    input_tokens,
    output_tokens: (count("candidatesTokenCount") ?? 0) + (reasoning_output_tokens ?? 0),
    ...omitUndefined({ cached_input_tokens: count("cachedContentTokenCount"), reasoning_output_tokens }),
    source: "reported",
  };
}
