import type { AgentCard } from "../../protocol/index.ts";
import { type CardFetchOptions, fetchCard, type FetchedCard } from "./fetch-card.ts";

/**
 * Holds the agent card during a connection: the public card first, and the extended card once it has been
 * fetched (A2A §3.1.11).
 */
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

  /**
   * Replaces the public card with the extended card. The decoded card is verified, because the transport does
   * not keep the original JSON.
   */
  async setExtendedCard(card: AgentCard): Promise<AgentCard> {
    await this.#fetchOptions.verifyCard?.(card);
    this.#extendedCard = card;
    return card;
  }

  /**
   * Fetches the public card if the cached copy is stale, and returns the card in use (RFC 9111, A2A §8.6.2).
   */
  async refresh(signal: AbortSignal | undefined): Promise<AgentCard> {
    const previous = this.#publicCard;
    if (this.#fetchOptions.now() < previous.freshUntil) return this.card;
    this.#publicCard = await fetchCard(this.#fetchOptions, previous.url, signal, previous);
    // The extended card is valid only for the card version that it extends.
    if (this.#publicCard.card.version !== previous.card.version) this.#extendedCard = undefined;
    return this.card;
  }
}
