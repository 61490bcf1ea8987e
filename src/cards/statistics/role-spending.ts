import type { MessageCard } from "../message-card/index.ts";
import { formatEdge } from "./card-statistics.ts";
import { computeQuantile, sumBy } from "./distribution.ts";
import { findCardTokenTotal } from "./token-counts.ts";

/** What a role spent in a turn, of all samples together. */
export interface RoleSpending {
  readonly role: string;
  /** `undefined` for cards that name none. */
  readonly turn: number | undefined;
  readonly cards: number;
  readonly input: number;
  readonly output: number;
  /** Of the input. */
  readonly cached: number;
  /** Of `input + output`, what was estimated; such figures do not stand for measured ones. */
  readonly estimated: number;
  /** Cards that say nothing of tokens, or not of all: the sums are too low by what these cost. */
  readonly silent: number;
  readonly ms: number;
  /** Of the time of all roles and turns; the largest is the bottleneck. */
  readonly share: number;
}

/** Tokens and time by role and turn, from what senders wrote on their cards; where most time went, first. */
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

/** How long replies took between two roles, as the one who asked waited for them. */
export interface ReplyLatency {
  /** `planner → solver`: who asked whom. */
  readonly edge: string;
  readonly replies: number;
  readonly p50: number;
  readonly p95: number;
  /** Replies that are older than what they reply to: the clocks of two machines disagree. Not in the percentiles. */
  readonly inverted: number;
}

/** From each task to each of its results and errors, in milliseconds of the cards' times. `time` is `timeOf`. */
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
    return Number.isNaN(ms) ? [] : [{ edge: formatEdge(task), ms }];
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
