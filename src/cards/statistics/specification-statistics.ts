import type { MessageCard } from "../message-card/index.ts";

/**
 * Figures by the original formulas of the specification, under their original names.
 * They are kept for compatibility. The comments describe their defects, and `computeCardStatistics` computes
 * corrected figures.
 */
export interface SpecificationStatistics {
  /** Number of cards by type: `Counter(card["message_type"] …)`. */
  readonly card_types: Readonly<Record<string, number>>;
  /**
   * Number of cards from the planner to the solver divided by the number of samples. Control and query cards
   * count, too.
   */
  readonly avg_turns: number;
  /**
   * Number of cards with the status `success` divided by the number of all results.
   * The results of the planner have the status `completed` and count in the denominator. A run with one call
   * per problem and no failures has a rate of 50 %.
   */
  readonly solver_success_rate: number;
  /**
   * Number of cards with the status `completed` divided by the number of samples. A sample that completes
   * twice counts twice.
   */
  readonly overall_completion_rate: number;
}

/**
 * Computes the figures. `samples` is the number of problems; the specification uses a fixed 200.
 * A figure is `NaN` if its denominator is 0.
 */
export function computeSpecificationStatistics(
  cards: readonly MessageCard[],
  samples = 200,
): SpecificationStatistics {
  const count = (is: (card: MessageCard) => boolean): number => cards.filter(is).length;
  const results = count((card) => card.message_type === "result");
  return {
    card_types: countBy(cards, (card) => card.message_type),
    avg_turns: count((card) => card.sender === "planner" && card.recipient === "solver") / samples,
    solver_success_rate: count((card) => card.metadata["status"] === "success") / results,
    overall_completion_rate: count((card) => card.metadata["status"] === "completed") / samples,
  };
}

/**
 * Returns the accuracy per 1,000 tokens of a sample.
 * The measure favors short wrong answers, so read it together with the accuracy.
 */
export function computeAccuracyPerThousandTokens(accuracy: number, tokensPerSample: number): number {
  return accuracy / (tokensPerSample / 1_000);
}

/** Counts items by key. */
export function countBy<Item>(
  items: readonly Item[],
  getKey: (item: Item) => string,
): Record<string, number> {
  // The object has no prototype, because a message type may be called `constructor`.
  const counts = Object.create(null) as Record<string, number>;
  for (const item of items) counts[getKey(item)] = (counts[getKey(item)] ?? 0) + 1;
  return counts;
}
