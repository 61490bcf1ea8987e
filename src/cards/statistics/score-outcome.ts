import type { ScoreLine } from "../recording/index.ts";

/** Returns how a problem ended. Older records have no outcomes, but errors and answers. */
export function getScoreOutcome({
  outcome,
  error,
  predicted,
}: Pick<ScoreLine, "outcome" | "error" | "predicted">): string {
  if (outcome !== undefined) return outcome;
  if (error !== undefined) return "error";
  return predicted === undefined ? "no_answer" : "answered";
}

/** Returns whether a method gave an answer, in the requested format or not. */
export function isAnsweredOutcome(outcome: string): boolean {
  return outcome === "answered" || outcome === "unmarked";
}
