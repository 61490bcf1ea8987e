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
} from "../../index.ts";
import { truncateText } from "../../../protocol/index.ts";
import type { RoleRuntime } from "./role-runtime.ts";
import type { QueryAnswer } from "../role.ts";

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
