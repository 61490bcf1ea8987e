import type { AgentCard } from "../../protocol/index.ts";
import { type CardFetchOptions, fetchCard, type FetchedCard } from "./fetch-card.ts";

/** The card of an agent over the time of a connection: public first, extended once that was asked for (A2A §3.1.11). */
export class AgentCardCache {
  readonly #fetchOptions: CardFetchOptions;
  #publicCard: FetchedCard;
  #extendedCard: AgentCard | undefined;

  constructor(fetchOptions: CardFetchOptions, publicCard: FetchedCard) {
    this.#fetchOptions = fetchOptions;
    this.#publicCard = publicCard;
  }

  get card(): AgentCard {
    return this.#extendedCard ?? this.#publicCard.card;
  }

  get url(): string {
    return this.#publicCard.url;
  }

  /** The extended card stands for the public one from now on. What was signed of it is what was decoded. */
  async setExtendedCard(card: AgentCard): Promise<AgentCard> {
    await this.#fetchOptions.verifyCard?.(card);
    this.#extendedCard = card;
    return card;
  }

  /** Asks whether the public card has changed, once its server no longer calls it fresh (RFC 9111, A2A §8.6.2). */
  async refresh(signal: AbortSignal | undefined): Promise<AgentCard> {
    const previous = this.#publicCard;
    if (this.#fetchOptions.now() < previous.freshUntil) return this.card;
    this.#publicCard = await fetchCard(this.#fetchOptions, previous.url, signal, previous);
    // An extended card holds as long as the version that it extends.
    if (this.#publicCard.card.version !== previous.card.version) this.#extendedCard = undefined;
    return this.card;
  }
}
