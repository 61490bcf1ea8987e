import type { MessageCard } from "../message-card/index.ts";
import { summarizeDistribution, type DistributionSummary } from "./distribution.ts";
import { countBy } from "./specification-statistics.ts";
import { computeWilsonInterval, type IntervalEstimate } from "./wilson-interval.ts";

/** Figures of the cards of one run. Cards are to be there once each, as they were sent. */
export interface CardStatistics {
  readonly cards: number;
  readonly samples: number;
  readonly byType: Readonly<Record<string, number>>;
  /** `planner → solver`: how many. */
  readonly byEdge: Readonly<Record<string, number>>;
  /** Tasks from planner to solver, a sample; `undefined` where there are no samples. */
  readonly solverTasks: DistributionSummary | undefined;
  /** Of the solver's results to its planner, those of status `success`; `undefined` where there are none. */
  readonly solverSuccess: IntervalEstimate | undefined;
  /** Of the samples, those with a result `completed`; `undefined` where there are none. */
  readonly completion: IntervalEstimate | undefined;
  readonly errorsByType: Readonly<Record<string, number>>;
}

/**
 * The corrected figures beside `computeSpecificationStatistics`. `sampleIds` are all problems of the run, from its record: one that left
 * no card counts too, and a card that names none counts to none.
 */
export function computeCardStatistics(
  cards: readonly MessageCard[],
  sampleIds: readonly string[],
): CardStatistics {
  const samples = new Set(sampleIds);
  const tasks = cards.filter(
    (card) => card.message_type === "task" && isSentBetween(card, "planner", "solver"),
  );
  const results = cards.filter(
    (card) => card.message_type === "result" && isSentBetween(card, "solver", "planner"),
  );
  const successes = results.filter((card) => card.metadata["status"] === "success").length;
  const completed = new Set(
    cards
      .filter((card) => card.message_type === "result" && card.metadata["status"] === "completed")
      .flatMap((card) => card.metadata.sample_id ?? []),
  );
  const tasksOf = countBy(tasks, (card) => card.metadata.sample_id ?? "");
  return {
    cards: cards.length,
    samples: samples.size,
    byType: countBy(cards, (card) => card.message_type),
    byEdge: countBy(cards, formatEdge),
    solverTasks:
      samples.size > 0 ? summarizeDistribution([...samples].map((id) => tasksOf[id] ?? 0)) : undefined,
    solverSuccess: results.length > 0 ? computeWilsonInterval(successes, results.length) : undefined,
    completion:
      samples.size > 0
        ? computeWilsonInterval([...samples].filter((id) => completed.has(id)).length, samples.size)
        : undefined,
    errorsByType: countBy(
      cards.filter((card) => card.message_type === "error"),
      (card) => normalizeErrorType(card.metadata["error_type"]),
    ),
  };
}

/** Formats the direction of a card: `planner → solver`. */
export function formatEdge({ sender, recipient }: MessageCard): string {
  return `${sender} → ${recipient}`;
}

function normalizeErrorType(type: unknown): string {
  return typeof type === "string" ? type : "unknown";
}

function isSentBetween(card: MessageCard, sender: string, recipient: string): boolean {
  return card.sender === sender && card.recipient === recipient;
}
