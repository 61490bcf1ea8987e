import type { MessageCard } from "../message-card/index.ts";

/**
 * Statistics that use the original formulas and names of the specification. The description of each member
 * explains the defects of its formula. `computeCardStatistics` computes corrected statistics.
 */
export interface SpecificationFormulaStatistics {
  /** Number of message cards by type, computed as `Counter(card["message_type"] …)`. */
  readonly card_types: Readonly<Record<string, number>>;
  /**
   * Number of message cards from the planner to the solver divided by the number of problems. The numerator
   * incorrectly includes control and query cards.
   */
  readonly avg_turns: number;
  /**
   * Number of message cards with the status `success` divided by the number of all results.
   * The denominator incorrectly includes results of the planner, whose status is `completed`. A run with one
   * model call per problem and no failures therefore has a success rate of 50 %.
   */
  readonly solver_success_rate: number;
  /**
   * Number of message cards with the status `completed` divided by the number of problems. A problem with two
   * completions incorrectly counts twice.
   */
  readonly overall_completion_rate: number;
}

/**
 * Computes statistics with the formulas of the specification. `samples` is the number of problems. The
 * specification always divides by 200. A ratio with the denominator 0 is `NaN`.
 */
export function computeSpecificationFormulaStatistics(
  cards: readonly MessageCard[],
  samples = 200,
): SpecificationFormulaStatistics {
  const count = (is: (card: MessageCard) => boolean): number => cards.filter(is).length;
  const results = count((card) => card.message_type === "result");
  return {
    card_types: countBy(cards, (card) => card.message_type),
    avg_turns: count((card) => card.sender === "planner" && card.recipient === "solver") / samples,
    solver_success_rate: count((card) => card.metadata["status"] === "success") / results,
    overall_completion_rate: count((card) => card.metadata["status"] === "completed") / samples,
  };
}

export function countBy<Item>(
  items: readonly Item[],
  getKey: (item: Item) => string,
): Record<string, number> {
  // The object has no prototype, because a message type may be called `constructor`.
  const counts = Object.create(null) as Record<string, number>;
  for (const item of items) counts[getKey(item)] = (counts[getKey(item)] ?? 0) + 1;
  return counts;
}
