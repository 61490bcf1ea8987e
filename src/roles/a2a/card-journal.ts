import {
  type MessageCard,
  type CardTransportInfo,
  type CardMetadata,
  type ControlCard,
  type ErrorCard,
  type ErrorCardMetadata,
  parseCard,
  type QueryCard,
  type ResultCard,
  type ResultCardStatus,
  type TaskCard,
} from "../../cards/index.ts";
import { truncateText, type CardEnvelope } from "../../cards/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import type { RoleRuntime } from "./role-runtime.ts";
import { omitUndefined } from "./omit-undefined.ts";

/** What cards of one problem have in common. */
type SharedCardMetadata = Pick<CardMetadata, "run_id" | "sample_id" | "dataset">;

/** Of texts that nobody has checked; a card's content takes 256 KiB, and a character is up to three bytes. */
const MAX_CONTENT_CHARACTERS = 80_000;

/** Who is told of cards, beside the record. */
export interface CardListener {
  /** One that goes between the role and another, or between others. */
  onCard(card: MessageCard): void;
}

/** The cards of a role in one problem: writes them, and has each recorded where it leaves and where it arrives. */
export class CardJournal {
  readonly runtime: RoleRuntime;
  readonly envelope: CardEnvelope;
  readonly #sharedMetadata: SharedCardMetadata;
  readonly #runId: string;
  readonly #listener: CardListener | undefined;
  /** The `card_id` of what was seen. */
  readonly #seenCardIds = new Set<string>();

  /** `first`: the card that it begins with, as far as there is one. */
  constructor(
    runtime: RoleRuntime,
    first: MessageCard | undefined,
    envelope: CardEnvelope,
    listener?: CardListener,
  ) {
    this.runtime = runtime;
    this.envelope = envelope;
    this.#listener = listener;
    const { run_id, sample_id, dataset } = first?.metadata ?? {};
    this.#runId = run_id ?? envelope.runId ?? "";
    this.#sharedMetadata = omitUndefined({ run_id, sample_id, dataset });
  }

  get runId(): string {
    return this.#runId;
  }

  get sampleId(): string | undefined {
    return this.#sharedMetadata.sample_id;
  }

  createTaskCard(to: string, task: string, metadata: CardMetadata, context?: JsonObject): TaskCard {
    const { protocol, role: from } = this.runtime;
    const card = { from, to, task, metadata: this.#buildMetadata(metadata) };
    return protocol.createTaskCard(context ? { ...card, context } : card);
  }

  createResultCard(to: string, result: string, status: ResultCardStatus, metadata: CardMetadata): ResultCard {
    const { protocol, role: from } = this.runtime;
    return protocol.createResultCard({ from, to, result, status, metadata: this.#buildMetadata(metadata) });
  }

  createQueryCard(to: string, query: string, metadata: CardMetadata): QueryCard {
    const { protocol, role: from } = this.runtime;
    return protocol.createQueryCard({ from, to, query, metadata: this.#buildMetadata(metadata) });
  }

  createControlCard(to: string, action: string, parameters: JsonObject): ControlCard {
    const { protocol, role: from } = this.runtime;
    return protocol.createControlCard({ from, to, action, parameters, metadata: this.#buildMetadata({}) });
  }

  /** An error goes wherever it has to, whether there is a route or not. */
  createErrorCard(to: string, error: string, metadata: CardMetadata & ErrorCardMetadata): ErrorCard {
    return this.#createUnroutedCard("error", this.runtime.role, to, error, metadata) as ErrorCard;
  }

  /** A card in the name of another role, which said the same in no card; `written_by` tells. */
  createCardOnBehalfOf<Type extends "result" | "query" | "error">(
    sender: string,
    type: Type,
    content: string,
    metadata: CardMetadata,
  ): Extract<ResultCard | QueryCard | ErrorCard, { message_type: Type }> {
    const { role } = this.runtime;
    const card = this.#createUnroutedCard(type, sender, role, content, { ...metadata, written_by: role });
    return card as Extract<ResultCard | QueryCard | ErrorCard, { message_type: Type }>;
  }

  /** The card leaves. */
  recordSent(card: MessageCard, a2a: CardTransportInfo, isRelayed: boolean): void {
    this.#record("out", card, a2a, isRelayed);
  }

  /** The card arrived. */
  recordReceived(card: MessageCard, a2a: CardTransportInfo, isRelayed: boolean): void {
    this.#record("in", card, a2a, isRelayed);
  }

  /** Somebody told of a card that another role sent or received; once for each. */
  recordRelayed(card: MessageCard, a2a: CardTransportInfo): void {
    const id = card.metadata.card_id;
    if (id !== undefined && this.#seenCardIds.has(id)) return;
    this.#record(card.recipient === this.runtime.role ? "in" : "relayed", card, a2a, true);
  }

  #record(
    dir: "out" | "in" | "relayed",
    card: MessageCard,
    a2a: CardTransportInfo,
    isRelayed: boolean,
  ): void {
    const { recorder, role } = this.runtime;
    if (card.metadata.card_id !== undefined) this.#seenCardIds.add(card.metadata.card_id);
    recorder?.recordCard({
      run_id: this.#runId,
      ...omitUndefined({ sample_id: this.sampleId }),
      dir,
      at_role: role,
      a2a,
      card,
    });
    if (isRelayed) this.#listener?.onCard(card);
  }

  #createUnroutedCard(
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
      content: truncateText(content.toWellFormed(), MAX_CONTENT_CHARACTERS),
      metadata: this.#buildMetadata(metadata),
      timestamp: new Date(this.runtime.clock.now()).toISOString(),
    });
  }

  #buildMetadata(metadata: CardMetadata): CardMetadata {
    return { card_id: this.runtime.newId(), ...this.#sharedMetadata, ...metadata };
  }
}
