import {
  type Card,
  type CardCarrier,
  type CardMetadata,
  type ControlCard,
  type ErrorCard,
  type ErrorMetadata,
  parseCard,
  type QueryCard,
  type ResultCard,
  type ResultStatus,
  type TaskCard,
} from "../../cards/index.ts";
import { cut, type Envelope } from "../../cards/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import type { Office } from "./office.ts";
import { defined } from "./defined.ts";

/** What cards of one problem have in common. */
type Common = Pick<CardMetadata, "run_id" | "sample_id" | "dataset">;

/** Of texts that nobody has checked; a card's content takes 256 KiB, and a character is up to three bytes. */
const MAX_WORDS = 80_000;

/** Who is told of cards, beside the record. */
export interface Witness {
  /** One that goes between the role and another, or between others. */
  exchanged(card: Card): void;
}

/** The cards of a role in one problem: writes them, and has each recorded where it leaves and where it arrives. */
export class Correspondence {
  readonly office: Office;
  readonly envelope: Envelope;
  readonly #common: Common;
  readonly #runId: string;
  readonly #witness: Witness | undefined;
  /** The `card_id` of what was seen. */
  readonly #seen = new Set<string>();

  /** `first`: the card that it begins with, as far as there is one. */
  constructor(office: Office, first: Card | undefined, envelope: Envelope, witness?: Witness) {
    this.office = office;
    this.envelope = envelope;
    this.#witness = witness;
    const { run_id, sample_id, dataset } = first?.metadata ?? {};
    this.#runId = run_id ?? envelope.runId ?? "";
    this.#common = defined({ run_id, sample_id, dataset });
  }

  get runId(): string {
    return this.#runId;
  }

  get sampleId(): string | undefined {
    return this.#common.sample_id;
  }

  task(to: string, task: string, metadata: CardMetadata, context?: JsonObject): TaskCard {
    const { protocol, role: from } = this.office;
    const card = { from, to, task, metadata: this.#about(metadata) };
    return protocol.createTaskCard(context ? { ...card, context } : card);
  }

  result(to: string, result: string, status: ResultStatus, metadata: CardMetadata): ResultCard {
    const { protocol, role: from } = this.office;
    return protocol.createResultCard({ from, to, result, status, metadata: this.#about(metadata) });
  }

  query(to: string, query: string, metadata: CardMetadata): QueryCard {
    const { protocol, role: from } = this.office;
    return protocol.createQueryCard({ from, to, query, metadata: this.#about(metadata) });
  }

  control(to: string, action: string, parameters: JsonObject): ControlCard {
    const { protocol, role: from } = this.office;
    return protocol.createControlCard({ from, to, action, parameters, metadata: this.#about({}) });
  }

  /** An error goes wherever it has to, whether there is a route or not. */
  error(to: string, error: string, metadata: CardMetadata & ErrorMetadata): ErrorCard {
    return this.#write("error", this.office.role, to, error, metadata) as ErrorCard;
  }

  /** A card in the name of another role, which said the same in no card; `written_by` tells. */
  inNameOf<Type extends "result" | "query" | "error">(
    by: string,
    type: Type,
    content: string,
    metadata: CardMetadata,
  ): Extract<ResultCard | QueryCard | ErrorCard, { message_type: Type }> {
    const { role } = this.office;
    const card = this.#write(type, by, role, content, { ...metadata, written_by: role });
    return card as Extract<ResultCard | QueryCard | ErrorCard, { message_type: Type }>;
  }

  /** The card leaves. */
  sent(card: Card, a2a: CardCarrier, isRelayed: boolean): void {
    this.#record("out", card, a2a, isRelayed);
  }

  /** The card arrived. */
  received(card: Card, a2a: CardCarrier, isRelayed: boolean): void {
    this.#record("in", card, a2a, isRelayed);
  }

  /** Somebody told of a card that another role sent or received; once for each. */
  relayed(card: Card, a2a: CardCarrier): void {
    const id = card.metadata.card_id;
    if (id !== undefined && this.#seen.has(id)) return;
    this.#record(card.recipient === this.office.role ? "in" : "relayed", card, a2a, true);
  }

  #record(dir: "out" | "in" | "relayed", card: Card, a2a: CardCarrier, isRelayed: boolean): void {
    const { recorder, role } = this.office;
    if (card.metadata.card_id !== undefined) this.#seen.add(card.metadata.card_id);
    recorder?.card({
      run_id: this.#runId,
      ...defined({ sample_id: this.sampleId }),
      dir,
      at_role: role,
      a2a,
      card,
    });
    if (isRelayed) this.#witness?.exchanged(card);
  }

  #write(type: string, sender: string, recipient: string, content: string, metadata: CardMetadata): Card {
    return parseCard({
      sender,
      recipient,
      message_type: type,
      content: cut(content.toWellFormed(), MAX_WORDS),
      metadata: this.#about(metadata),
      timestamp: new Date(this.office.clock.now()).toISOString(),
    });
  }

  #about(metadata: CardMetadata): CardMetadata {
    return { card_id: this.office.newId(), ...this.#common, ...metadata };
  }
}
