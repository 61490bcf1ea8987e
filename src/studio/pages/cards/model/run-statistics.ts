import {
  computeMean,
  computeRunFigures,
  countBy,
  type MessageCard,
  type RunFigures,
  sumBy,
} from "../../../../cards/index.ts";
import { analyzeCriticalPathAndFindings } from "./sample-critical-path-and-findings.ts";
import type { RunModel } from "./run-model.ts";
import { countCardTokens } from "./sample-summary.ts";

/** Statistics of the entire run in the HTML report. */
export interface RunStatistics extends RunFigures {
  readonly errorCount: number;
  /** Number of problems whose last result has the status `partial`. */
  readonly partialCount: number;
  readonly roleEdges: readonly RoleEdge[];
}

/** Statistics of the message cards from one role to another. */
export interface RoleEdge {
  readonly from: string;
  readonly to: string;
  readonly cardCount: number;
  /** Number of message cards by type. */
  readonly countByType: Readonly<Record<string, number>>;
  readonly tokens: number;
  /** Mean working time per message card in milliseconds, or `undefined` if no card reports a working time. */
  readonly averageMs: number | undefined;
}

export function summarizeRun(model: RunModel): RunStatistics {
  const analyses = model.samples.map((sample) => analyzeCriticalPathAndFindings(sample, model));
  const cards = analyses.flatMap((sample) => sample.cards);
  return {
    ...computeRunFigures(analyses, model.run, {
      cards: model.samples.flatMap((sample) => sample.cards.map(({ line }) => line)),
      calls: model.samples.flatMap((sample) => sample.calls),
    }),
    errorCount: cards.filter((card) => card.message_type === "error").length,
    partialCount: analyses.filter(({ id, summary }) => id !== undefined && summary.isPartial).length,
    roleEdges: summarizeRoleEdges(cards),
  };
}

function summarizeRoleEdges(cards: readonly MessageCard[]): RoleEdge[] {
  return [
    ...Map.groupBy(cards, ({ sender, recipient }) => JSON.stringify([sender, recipient])).values(),
  ].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const durations = group.flatMap(({ metadata }) => metadata.duration_ms ?? []);
    return {
      from: first.sender,
      to: first.recipient,
      cardCount: group.length,
      countByType: countBy(group, (card) => card.message_type),
      tokens: sumBy(group, countCardTokens),
      averageMs: durations.length > 0 ? computeMean(durations) : undefined,
    };
  });
}

/**
 * Returns the roles that sent or received message cards. The core roles come first, in the order of
 * delegation. Custom roles follow in the order of their first message card.
 */
export function listRolesInCards(cards: Iterable<Pick<MessageCard, "sender" | "recipient">>): string[] {
  const roles = new Set<string>();
  for (const { sender, recipient } of cards) roles.add(sender).add(recipient);
  const first = ["controller", "planner", "solver"].filter((role) => roles.has(role));
  return [...new Set([...first, ...roles])];
}
