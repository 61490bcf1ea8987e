import type { ConsoleLoadFailure } from "../../console/index.ts";
import type { AgentReloadReport } from "../../dev/index.ts";

/** Formats the line about the agents that a reload has changed. Returns an empty text if no agent has changed. */
export function formatReloadSummary(
  { reloaded, added, removed }: Pick<AgentReloadReport, "reloaded" | "added" | "removed">,
  durationMs: number,
): string {
  const changes = [
    ...(reloaded.length > 0 ? [`reloaded ${reloaded.join(", ")}`] : []),
    ...(added.length > 0 ? [`added ${added.join(", ")}`] : []),
    ...(removed.length > 0 ? [`removed ${removed.join(", ")}`] : []),
  ];
  return changes.length === 0 ? "" : `${changes.join("; ")} in ${Math.round(durationMs)} ms\n`;
}

/** Formats files that could not be loaded, with the stacks of their errors. */
export function formatLoadFailures(failures: readonly ConsoleLoadFailure[]): string {
  return failures.map(formatFailure).join("");
}

function formatFailure({ file, message, stack, keepsEarlierAgents }: ConsoleLoadFailure): string {
  const kept = keepsEarlierAgents ? " The earlier version stays." : "";
  const lines = stack === undefined ? "" : `${stack.replaceAll(/^/gm, "  ")}\n`;
  return `${file}: ${message}${kept}\n${lines}`;
}
