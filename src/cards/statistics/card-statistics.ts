import type { MessageCard } from "../message-card/index.ts";
import { summarizeDistribution, type DistributionSummary } from "./distribution.ts";
import { countBy } from "./specification-formula-statistics.ts";
import { countAnswerTokens } from "./token-counts.ts";
import { computeWilsonInterval, type IntervalEstimate } from "./wilson-interval.ts";

/** Statistics of the message cards of one run. */
export interface CardStatistics {
  readonly cards: number;
  readonly samples: number;
  readonly byType: Readonly<Record<string, number>>;
  /** Number of message cards by direction, for example `planner → solver`. */
  readonly byEdge: Readonly<Record<string, number>>;
  /** Number of tasks from the planner to the solver per problem, or `undefined` if there are no problems. */
  readonly solverTasks: DistributionSummary | undefined;
  /**
   * Share of the solver's replies to the planner that are results with the status `success`. Errors count as
   * replies. The share is `undefined` if the solver sent no replies.
   */
  readonly solverSuccess: IntervalEstimate | undefined;
  /**
   * Length of the solver's results to the planner in tokens (see `countAnswerTokens`), or `undefined` if the
   * solver sent no results.
   */
  readonly solverAnswerTokens: DistributionSummary | undefined;
  /** Whether some of the lengths in `solverAnswerTokens` are estimates. */
  readonly isAnswerLengthEstimated: boolean;
  /** Share of problems with a `completed` result, or `undefined` if there are no problems. */
  readonly completion: IntervalEstimate | undefined;
  readonly errorsByType: Readonly<Record<string, number>>;
}

/**
 * Computes corrected versions of the statistics from `computeSpecificationFormulaStatistics`.
 * `cards` must contain each message card once. `sampleIds` are the IDs of all problems of the run, including
 * problems without message cards. Message cards without a problem ID belong to no problem.
 */
export function computeCardStatistics(
  cards: readonly MessageCard[],
  sampleIds: readonly string[],
): CardStatistics {
  const samples = new Set(sampleIds);
  const tasks = cards.filter(
    (card) => card.message_type === "task" && hasSenderAndRecipient(card, "planner", "solver"),
  );
  const results = cards.filter(
    (card) => card.message_type === "result" && hasSenderAndRecipient(card, "solver", "planner"),
  );
  const errorReplies = cards.filter(
    (card) =>
      card.message_type === "error" &&
      card.metadata.in_reply_to !== undefined &&
      hasSenderAndRecipient(card, "solver", "planner"),
  );
  const replies = results.length + errorReplies.length;
  const successes = results.filter((card) => card.metadata["status"] === "success").length;
  const completed = new Set(
    cards
      .filter((card) => card.message_type === "result" && card.metadata["status"] === "completed")
      .flatMap((card) => card.metadata.sample_id ?? []),
  );
  const taskCounts = countBy(tasks, (card) => card.metadata.sample_id ?? "");
  return {
    cards: cards.length,
    samples: samples.size,
    byType: countBy(cards, (card) => card.message_type),
    byEdge: countBy(cards, formatCardSenderAndRecipient),
    solverTasks:
      samples.size > 0 ? summarizeDistribution([...samples].map((id) => taskCounts[id] ?? 0)) : undefined,
    solverSuccess: replies > 0 ? computeWilsonInterval(successes, replies) : undefined,
    solverAnswerTokens:
      results.length > 0 ? summarizeDistribution(results.map(countAnswerTokens)) : undefined,
    isAnswerLengthEstimated: results.some(({ metadata }) => metadata.usage?.source !== "reported"),
    completion:
      samples.size > 0
        ? computeWilsonInterval([...samples].filter((id) => completed.has(id)).length, samples.size)
        : undefined,
    errorsByType: countBy(
      cards.filter((card) => card.message_type === "error"),
      (card) => getErrorTypeOrUnknown(card.metadata["error_type"]),
    ),
  };
}

/** Formats the direction of a message card, for example `planner → solver`. */
export function formatCardSenderAndRecipient({ sender, recipient }: MessageCard): string {
  return `${sender} → ${recipient}`;
}

function getErrorTypeOrUnknown(type: unknown): string {
  return typeof type === "string" ? type : "unknown";
}

function hasSenderAndRecipient(card: MessageCard, sender: string, recipient: string): boolean {
  return card.sender === sender && card.recipient === recipient;
}
