import {
  formatLoadError,
  toRelativePath,
  type AgentFileFailure,
  type AgentReloadReport,
} from "../../dev/index.ts";

/** Values that the lines about a reload need. */
export interface ReloadLogContext {
  readonly cwd: string;
  /** Returns the files that may contain the syntax error of a file. */
  readonly listImportedFiles: (file: string) => Iterable<string>;
}

/** Formats the lines about a reload. Returns an empty text if no agent has changed and no failure is new. */
export async function formatReloadReport(
  { reloaded, added, removed, failures }: AgentReloadReport,
  durationMs: number,
  context: ReloadLogContext,
): Promise<string> {
  const changes = [
    ...(reloaded.length > 0 ? [`reloaded ${reloaded.join(", ")}`] : []),
    ...(added.length > 0 ? [`added ${added.join(", ")}`] : []),
    ...(removed.length > 0 ? [`removed ${removed.join(", ")}`] : []),
  ];
  const summary = changes.length === 0 ? "" : `${changes.join("; ")} in ${Math.round(durationMs)} ms\n`;
  return summary + (await formatNewFailures(failures, context));
}

/** Formats the failures that the user has not seen yet, with the stacks of their errors. */
export async function formatNewFailures(
  failures: readonly AgentFileFailure[],
  context: ReloadLogContext,
): Promise<string> {
  const texts = failures.filter(({ isNew }) => isNew).map((failure) => formatFailure(failure, context));
  return (await Promise.all(texts)).join("");
}

async function formatFailure(
  { file, reason, error, keepsEarlierAgents }: AgentFileFailure,
  context: ReloadLogContext,
): Promise<string> {
  const kept = keepsEarlierAgents ? " The earlier version stays." : "";
  const headline = `${toRelativePath(file, context.cwd)}: ${reason.replace(/\.$/, "")}.${kept}\n`;
  if (error === undefined) return headline;
  const stack = await formatLoadError(error, context.listImportedFiles(file), context.cwd);
  return `${headline}${stack.replaceAll(/^/gm, "  ")}\n`;
}
