import type { MessageCard } from "../message-card/index.ts";
import { formatCardSenderAndRecipient } from "./card-statistics.ts";
import { computeQuantile, sumBy } from "./distribution.ts";
import { findCardTokenTotal } from "./token-counts.ts";

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

/** Time between tasks and their replies for a pair of roles, measured at the requesting role. */
export interface ReplyLatency {
  /** Requesting role and answering role, for example `planner → solver`. */
  readonly edge: string;
  readonly replies: number;
  readonly p50: number;
  readonly p95: number;
  /**
   * Number of replies whose timestamp is earlier than the timestamp of the task. The usual cause is a clock
   * difference between two machines. The percentiles exclude replies whose timestamp precedes the timestamp
   * of the task.
   */
  readonly inverted: number;
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
      inverted: all.length - sorted.length,
    };
  });
}
