import type { MessageCard } from "../message-card/index.ts";
import {
  computeQuantile,
  countBy,
  type DistributionSummary,
  sumBy,
  summarizeDistribution,
} from "./distribution.ts";
import { computeWilsonInterval, type IntervalEstimate } from "./intervals.ts";
import { countAnswerTokens, findCardTokenTotal } from "./token-counts.ts";

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

/** Tokens and time that a role spent in a turn, summed over all problems. */
export interface RoleSpending {
  readonly role: string;
  /** Turn number, or `undefined` for message cards without a turn. */
  readonly turn: number | undefined;
  readonly cards: number;
  readonly input: number;
  readonly output: number;
  /** Number of input tokens that were read from a cache. */
  readonly cached: number;
  /** Number of input and output tokens that are estimates. */
  readonly estimated: number;
  /** Number of message cards with incomplete token counts. The token sums exclude unknown token counts. */
  readonly silent: number;
  readonly ms: number;
  /** Fraction of the total time over all roles and turns, from 0 to 1. */
  readonly share: number;
}

/**
 * Summarizes tokens and time by role and turn from the metadata of message cards, sorted by time in
 * descending order.
 */
export function summarizeRoleSpending(cards: readonly MessageCard[]): RoleSpending[] {
  const groups = Map.groupBy(cards, ({ sender, metadata }) =>
    JSON.stringify([sender, metadata.turn ?? null]),
  );
  const total = sumBy(cards, (card) => card.metadata.duration_ms ?? 0);
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      if (!first) return [];
      const ms = sumBy(group, (card) => card.metadata.duration_ms ?? 0);
      return {
        role: first.sender,
        turn: first.metadata.turn,
        cards: group.length,
        input: sumBy(group, (card) => card.metadata.usage?.input_tokens ?? 0),
        output: sumBy(group, (card) => card.metadata.usage?.output_tokens ?? 0),
        cached: sumBy(group, (card) => card.metadata.usage?.cached_input_tokens ?? 0),
        estimated: sumBy(group, (card) =>
          card.metadata.usage?.source === "estimated" ? (findCardTokenTotal(card) ?? 0) : 0,
        ),
        silent: group.filter(({ metadata: { usage } }) => usage === undefined || usage.source === "none")
          .length,
        ms,
        share: total > 0 ? ms / total : 0,
      };
    })
    .toSorted((a, b) => b.ms - a.ms || a.role.localeCompare(b.role) || (a.turn ?? 0) - (b.turn ?? 0));
}

/** Time between tasks and their replies for a pair of roles. Replies that precede their task, because of different clocks, are excluded from the percentiles. */
export interface ReplyLatency {
  /** Requesting role and answering role, for example `planner → solver`. */
  readonly edge: string;
  readonly replies: number;
  readonly p50: number;
  readonly p95: number;
}

/**
 * Summarizes the time in milliseconds from each task to each of its results and errors. The `time` callback
 * returns the time of a message card. In most cases, pass `parseCardTime`.
 */
export function summarizeReplyLatency(
  cards: readonly MessageCard[],
  time: (card: MessageCard) => number,
): ReplyLatency[] {
  const tasks = new Map(
    cards.flatMap((card) =>
      card.message_type === "task" && card.metadata.card_id !== undefined
        ? [[card.metadata.card_id, card] as const]
        : [],
    ),
  );
  const waits = cards.flatMap((card) => {
    const task = tasks.get(card.metadata.in_reply_to ?? "");
    if (!task || (card.message_type !== "result" && card.message_type !== "error")) return [];
    const ms = time(card) - time(task);
    return Number.isNaN(ms) ? [] : [{ edge: formatCardSenderAndRecipient(task), ms }];
  });
  return [...Map.groupBy(waits, ({ edge }) => edge)].map(([edge, all]) => {
    const sorted = all
      .map(({ ms }) => ms)
      .filter((ms) => ms >= 0)
      .toSorted((a, b) => a - b);
    return {
      edge,
      replies: all.length,
      p50: computeQuantile(sorted, 0.5),
      p95: computeQuantile(sorted, 0.95),
    };
  });
}
