import type { MessageCard } from "../message-card/index.ts";

/**
 * The formulas of the seed, as it prints them, under its names. They are kept because they are asked for; what is
 * wrong with each is said here, and `figuresOf` has the corrected ones.
 */
export interface SpecificationStatistics {
  /** `Counter(card["message_type"] …)`. */
  readonly card_types: Readonly<Record<string, number>>;
  /** All cards from planner to solver by the number of samples: counts controls and queries too. */
  readonly avg_turns: number;
  /**
   * Cards of status `success` by all results. The planner's own results, which are `completed`, are among the latter:
   * a run with one call a problem and no failure at all has 50 %.
   */
  readonly solver_success_rate: number;
  /** Cards of status `completed` by the number of samples: a sample that completes twice counts twice. */
  readonly overall_completion_rate: number;
}

/** `samples` is the number of problems; the seed has 200 written into it. `NaN` where it would divide by zero. */
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

/** Accuracy for every 1,000 tokens of a sample. It rewards short wrong answers: read it beside the accuracy. */
export function computeAccuracyPerThousandTokens(accuracy: number, tokensPerSample: number): number {
  return accuracy / (tokensPerSample / 1_000);
}

export function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Record<string, number> {
  // Without a prototype: a message type may be called `constructor`.
  const counts = Object.create(null) as Record<string, number>;
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}
