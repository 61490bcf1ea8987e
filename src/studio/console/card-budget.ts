import { A2AError } from "../../protocol/index.ts";

/** Maximum size in bytes of the cards of all agents that one user has added. */
const MAX_CARD_BYTES = 8 * 2 ** 20;

/** The sizes of the cards that the console keeps for the agents that a user has added. */
export class CardBudget {
  readonly #bytesByAgentId = new Map<string, number>();

  /** Counts the card of an agent instead of its earlier card. Throws RESOURCE_EXHAUSTED if the cards are too large. */
  reserve(agentId: string, bytes: number): void {
    this.release(agentId);
    const others = [...this.#bytesByAgentId.values()].reduce((sum, one) => sum + one, 0);
    if (others + bytes > MAX_CARD_BYTES)
      throw new A2AError(
        "RESOURCE_EXHAUSTED",
        `The cards of the agents that you have added are larger than ${MAX_CARD_BYTES.toLocaleString("en")} bytes; remove one of the agents.`,
      );
    this.#bytesByAgentId.set(agentId, bytes);
  }

  release(agentId: string): void {
    this.#bytesByAgentId.delete(agentId);
  }
}
