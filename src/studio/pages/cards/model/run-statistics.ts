import { computeRunFigures, type MessageCard, type RunFigures } from "../../../../cards/index.ts";
import { getSampleAnalysis } from "./sample-analysis.ts";
import type { RunModel } from "./run-model.ts";

/** Statistics of the entire run in the HTML report. */
export interface RunStatistics extends RunFigures {
  readonly errorCount: number;
  /** Number of problems whose last result has the status `partial`. */
  readonly partialCount: number;
}

export function summarizeRun(model: RunModel): RunStatistics {
  const analyses = model.samples.map((sample) => getSampleAnalysis(sample, model));
  const cards = analyses.flatMap((sample) => sample.cards);
  return {
    ...computeRunFigures(analyses, model.run, model.calls),
    errorCount: cards.filter((card) => card.message_type === "error").length,
    partialCount: analyses.filter(({ id, summary }) => id !== undefined && summary.isPartial).length,
  };
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
