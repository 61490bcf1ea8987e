import type { AgentCard } from "../../protocol/index.ts";
import { type CardFetchOptions, fetchCard, fetchCardBeforeDeadline, type FetchedCard } from "./fetch-card.ts";

/**
 * Stores the current agent card of a connection: the public card, or the extended card once the client has
 * fetched it (A2A §3.1.11).
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
   * Replaces the public agent card with the extended agent card. The function verifies the decoded card,
   * because the transport does not keep the original JSON.
   */
  async setExtendedCard(card: AgentCard): Promise<AgentCard> {
    await this.#fetchOptions.verifyCard?.(card);
    this.#extendedCard = card;
    return card;
  }

  /**
   * Returns the current agent card. If the cached copy is stale, the function fetches the public card first
   * (RFC 9111, A2A §8.6.2).
   */
  async refresh(signal: AbortSignal | undefined): Promise<AgentCard> {
    const previous = this.#publicCard;
    if (this.#fetchOptions.monotonicNow() < previous.freshUntil) return this.card;
    this.#publicCard = await fetchCardBeforeDeadline(this.#fetchOptions, previous.url, signal, (deadline) =>
      fetchCard(this.#fetchOptions, previous.url, deadline, previous),
    );
    // The extended card is valid only for the card version that it extends.
    if (this.#publicCard.card.version !== previous.card.version) this.#extendedCard = undefined;
    return this.card;
  }
}
