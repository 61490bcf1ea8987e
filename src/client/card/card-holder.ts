import type { AgentCard } from "../../protocol/index.ts";
import { type CardSource, fetchCard, type FoundCard } from "./fetch-card.ts";

/** The card of an agent over the time of a connection: public first, extended once that was asked for (A2A §3.1.11). */
export class CardHolder {
  readonly #source: CardSource;
  #found: FoundCard;
  #extended: AgentCard | undefined;

  constructor(source: CardSource, found: FoundCard) {
    this.#source = source;
    this.#found = found;
  }

  get card(): AgentCard {
    return this.#extended ?? this.#found.card;
  }

  get url(): string {
    return this.#found.url;
  }

  /** The extended card stands for the public one from now on. What was signed of it is what was decoded. */
  async extend(card: AgentCard): Promise<AgentCard> {
    await this.#source.verify?.(card);
    this.#extended = card;
    return card;
  }

  /** Asks whether the public card has changed, once its server no longer calls it fresh (RFC 9111, A2A §8.6.2). */
  async refresh(signal: AbortSignal | undefined): Promise<AgentCard> {
    const known = this.#found;
    if (this.#source.now() < known.freshUntil) return this.card;
    this.#found = await fetchCard(this.#source, known.url, signal, known);
    // An extended card holds as long as the version that it extends.
    if (this.#found.card.version !== known.card.version) this.#extended = undefined;
    return this.card;
  }
}
