import type { MessageCard, CardTokenUsage } from "../message-card/index.ts";
import {
  countBy,
  type DistributionSummary,
  sumBy,
  summarizeDistribution,
  computeWilsonInterval,
  type IntervalEstimate,
} from "./intervals.ts";

/** Statistics of the message cards of one run. */
export interface CardStatistics {
  readonly cards: number;
  readonly samples: number;
  readonly byType: Readonly<Record<string, number>>;
  /** Number of tasks from the planner to the solver per problem, or `undefined` if there are no problems. */
  readonly solverTasks: DistributionSummary | undefined;
  /**
   * Share of the solver's replies to the planner that are results with the status `success`. Errors count as
   * replies. The share is `undefined` if the solver sent no replies.
   */
  readonly solverSuccess: IntervalEstimate | undefined;
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
  const select = (type: string, from?: string, to?: string): readonly MessageCard[] =>
    cards.filter(
      ({ message_type, sender, recipient }) =>
        message_type === type && (from === undefined || (sender === from && recipient === to)),
    );
  const results = select("result", "solver", "planner");
  const errorReplies = select("error", "solver", "planner").filter(
    ({ metadata }) => metadata.in_reply_to !== undefined,
  );
  const replies = results.length + errorReplies.length;
  const successes = results.filter((card) => card.metadata["status"] === "success").length;
  const completed = new Set(
    select("result").flatMap(({ metadata }) =>
      metadata["status"] === "completed" ? metadata.sample_id : [],
    ),
  );
  const taskCounts = countBy(select("task", "planner", "solver"), (card) => card.metadata.sample_id ?? "");
  return {
    cards: cards.length,
    samples: samples.size,
    byType: countBy(cards, (card) => card.message_type),
    solverTasks:
      samples.size > 0 ? summarizeDistribution([...samples].map((id) => taskCounts[id] ?? 0)) : undefined,
    solverSuccess: replies > 0 ? computeWilsonInterval(successes, replies) : undefined,
    completion:
      samples.size > 0
        ? computeWilsonInterval([...samples].filter((id) => completed.has(id)).length, samples.size)
        : undefined,
    errorsByType: countBy(select("error"), ({ metadata: { error_type } }) =>
      typeof error_type === "string" ? error_type : "unknown",
    ),
  };
}

/** Formats the direction of a message card, for example `planner → solver`. */
export function formatCardSenderAndRecipient({ sender, recipient }: MessageCard): string {
  return `${sender} → ${recipient}`;
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
  /** Number of message cards with unknown tokens. If there are any, the token sums are lower bounds. */
  readonly unknownCards: number;
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
        unknownCards: group.filter(({ metadata }) => metadata.usage?.source === "none").length,
        ms,
        share: total > 0 ? ms / total : 0,
      };
    })
    .toSorted((a, b) => b.ms - a.ms || a.role.localeCompare(b.role) || (a.turn ?? 0) - (b.turn ?? 0));
}

/** Sums of input, output, cached, and reasoning tokens. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  /** Number of input tokens that were read from a cache. */
  readonly cached: number;
  /** Number of output tokens that were used for reasoning. */
  readonly reasoning: number;
}

/** Token counts with the value 0 in every field. */
export const ZERO_TOKENS: TokenCounts = { input: 0, output: 0, cached: 0, reasoning: 0 };

/**
 * Converts the token usage of a message card or model call into token counts.
 * A token usage with the source `none` can still contain token counts from some model calls.
 */
export function convertUsageToTokenCounts(usage: CardTokenUsage | undefined): TokenCounts {
  if (!usage) return ZERO_TOKENS;
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    cached: usage.cached_input_tokens ?? 0,
    reasoning: usage.reasoning_output_tokens ?? 0,
  };
}

/** Returns the sum of two token counts. */
export function addTokenCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    reasoning: a.reasoning + b.reasoning,
  };
}

/** Returns the sum of the token counts of several usages. */
export function sumUsageTokens(usages: Iterable<CardTokenUsage | undefined>): TokenCounts {
  let sum = ZERO_TOKENS;
  for (const usage of usages) sum = addTokenCounts(sum, convertUsageToTokenCounts(usage));
  return sum;
}

/**
 * Returns the number of input and output tokens of a message card, or `undefined` if the number is unknown.
 * The metadata member `usage` takes precedence over `tokens`.
 */
export function findCardTokenTotal({ metadata: { usage, tokens } }: MessageCard): number | undefined {
  return usage === undefined ? tokens : usage.input_tokens + usage.output_tokens;
}

/**
 * Returns the length of an answer in tokens: the reported output tokens without reasoning, or an estimate of
 * one token for four bytes of text.
 */
export function countAnswerTokens({ content, metadata: { usage } }: MessageCard): number {
  if (usage?.source === "reported") return usage.output_tokens - (usage.reasoning_output_tokens ?? 0);
  return Math.ceil(new TextEncoder().encode(content).length / 4);
}

/** Prices per million input, output, and cached tokens. */
export interface TokenTariff {
  readonly input: number;
  readonly output: number;
  /** Price per million cached input tokens. Default: the price of input tokens. */
  readonly cached?: number;
}

/** Returns the price of the counted tokens, in the currency of the tariff. */
export function computeTokenPrice({ input, output, cached }: TokenCounts, tariff: TokenTariff): number {
  const fresh = (input - cached) * tariff.input + cached * (tariff.cached ?? tariff.input);
  return (fresh + output * tariff.output) / 1_000_000;
}

/** Tokens of a list of message cards. All reports and tables compute tokens with `summarizeTokens`. */
export interface TokenSummary {
  /** Sum of the token counts from all message cards with the metadata member `usage`. */
  readonly sum: TokenCounts;
  /** Number of input and output tokens of all message cards, with or without the metadata member `usage`. */
  readonly total: number;
  /** Number of tokens that are estimates. */
  readonly estimated: number;
  /**
   * Number of message cards with unknown tokens (`usage.source` is `none`). If the number is greater than 0,
   * all token counts are lower bounds.
   */
  readonly unknownCards: number;
  /** Whether any message card reports tokens. */
  readonly isReported: boolean;
}

/** Computes the tokens of a list of message cards without duplicates. */
export function summarizeTokens(cards: readonly MessageCard[]): TokenSummary {
  const unknownCards = cards.filter(hasUnknownTokens).length;
  const total = sumBy(cards, (card) => findCardTokenTotal(card) ?? 0);
  return {
    sum: sumUsageTokens(cards.map(({ metadata }) => metadata.usage)),
    total,
    estimated: sumBy(cards, (card) =>
      card.metadata.usage?.source === "estimated" ? (findCardTokenTotal(card) ?? 0) : 0,
    ),
    unknownCards,
    isReported:
      total > 0 || cards.some((card) => findCardTokenTotal(card) !== undefined && !hasUnknownTokens(card)),
  };
}

function hasUnknownTokens({ metadata }: MessageCard): boolean {
  return metadata.usage?.source === "none";
}
