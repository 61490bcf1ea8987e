import {
  formatLoadError,
  toRelativePath,
  type AgentFileFailure,
  type AgentReloadReport,
} from "../../studio/dev/index.ts";

/** Values that the texts about a reload need. */
export interface ReloadLogContext {
  readonly cwd: string;
  /** Returns the files that may contain the syntax error of a file. */
  readonly listImportedFiles: (file: string) => Iterable<string>;
}

/** A failure that the user has not seen yet. */
export interface DescribedFailure {
  /** Path of the agent file, relative to the working directory. */
  readonly path: string;
  /** The file, and the problem. */
  readonly message: string;
  /** Stack of the error with the frames of the user's files, if an error was thrown. */
  readonly stack?: string;
  /** Ids of the agents of the earlier version, which stay. */
  readonly earlierAgentIds: readonly string[];
}

/** Formats the lines about a reload. Returns an empty text if no agent has changed and no failure is new. */
export function formatReloadReport(
  { reloaded, added, removed }: AgentReloadReport,
  durationMs: number,
  failures: readonly DescribedFailure[],
): string {
  const changes = [
    ...(reloaded.length > 0 ? [`reloaded ${reloaded.join(", ")}`] : []),
    ...(added.length > 0 ? [`added ${added.join(", ")}`] : []),
    ...(removed.length > 0 ? [`removed ${removed.join(", ")}`] : []),
  ];
  const summary = changes.length === 0 ? "" : `${changes.join("; ")} in ${Math.round(durationMs)} ms\n`;
  return summary + formatFailures(failures);
}

/** Formats the hint for a renamed agent, whose conversations belong to its earlier id. */
export function formatRename({ renamed }: Pick<AgentReloadReport, "renamed">): string {
  if (!renamed) return "";
  const { from, to } = renamed;
  return `${to} was ${from}, whose URL answers until the command ends. To keep the id, add the option id: "${from}".\n`;
}

/** Formats failures with the stacks of their errors. */
export function formatFailures(failures: readonly DescribedFailure[]): string {
  return failures
    .map(({ message, stack, earlierAgentIds }) => {
      const kept = earlierAgentIds.length > 0 ? " The earlier version stays." : "";
      return `${message}${kept}\n${stack === undefined ? "" : `${stack.replaceAll(/^/gm, "  ")}\n`}`;
    })
    .join("");
}

/** Describes the failures that the user has not seen yet. */
export async function describeNewFailures(
  failures: readonly AgentFileFailure[],
  context: ReloadLogContext,
): Promise<DescribedFailure[]> {
  const newFailures = failures.filter(({ isNew }) => isNew);
  return await Promise.all(newFailures.map((failure) => describeFailure(failure, context)));
}

async function describeFailure(
  { file, reason, error, earlierAgentIds }: AgentFileFailure,
  { cwd, listImportedFiles }: ReloadLogContext,
): Promise<DescribedFailure> {
  const path = toRelativePath(file, cwd);
  const message = `${path}: ${reason.replace(/\.$/, "")}.`;
  if (error === undefined) return { path, message, earlierAgentIds };
  const stack = await formatLoadError(error, listImportedFiles(file), cwd);
  return { path, message, stack, earlierAgentIds };
}
