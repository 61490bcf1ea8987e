import { relative } from "node:path";
import { formatLoadError, type AgentFileFailure, type AgentReloadReport } from "../../dev/index.ts";

/** Values that the lines about a reload need. */
export interface ReloadLogContext {
  readonly cwd: string;
  /** Returns the files that may contain the syntax error of a file. */
  readonly listImportedFiles: (file: string) => Iterable<string>;
}

/** Formats the lines about a reload. Returns an empty text if no agent has changed and no failure is new. */
export function formatReloadReport(
  { reloaded, added, removed, failures }: AgentReloadReport,
  durationMs: number,
  context: ReloadLogContext,
): string {
  const changes = [
    ...(reloaded.length > 0 ? [`reloaded ${reloaded.join(", ")}`] : []),
    ...(added.length > 0 ? [`added ${added.join(", ")}`] : []),
    ...(removed.length > 0 ? [`removed ${removed.join(", ")}`] : []),
  ];
  const summary = changes.length === 0 ? "" : `${changes.join("; ")} in ${Math.round(durationMs)} ms\n`;
  return summary + formatNewFailures(failures, context);
}

/** Formats the failures that the user has not seen yet, with the stacks of their errors. */
export function formatNewFailures(failures: readonly AgentFileFailure[], context: ReloadLogContext): string {
  return failures
    .filter(({ isNew }) => isNew)
    .map((failure) => formatFailure(failure, context))
    .join("");
}

function formatFailure({ file, reason, error, keepsEarlierAgents }: AgentFileFailure, context: ReloadLogContext): string {
  const kept = keepsEarlierAgents ? " The earlier version stays." : "";
  const headline = `${toRelativePath(file, context.cwd)}: ${reason}.${kept}\n`;
  if (error === undefined) return headline;
  const stack = formatLoadError(error, context.listImportedFiles(file), context.cwd);
  return `${headline}${stack.replaceAll(/^/gm, "  ")}\n`;
}

/** Formats a file path relative to the working directory, if the file is below the directory. */
export function toRelativePath(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith("..") ? file : path;
}
