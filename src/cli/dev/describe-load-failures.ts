import type { ConsoleLoadFailure } from "../../console/index.ts";
import { formatLoadError, toRelativePath, type AgentFileFailure } from "../../dev/index.ts";

/** Values that the descriptions of failures need. */
export interface LoadFailureContext {
  readonly cwd: string;
  /** Returns the files that may contain the syntax error of a file. */
  readonly listImportedFiles: (file: string) => Iterable<string>;
}

/** Describes files that could not be loaded, with the stacks of their errors, for the log and the console. */
export async function describeLoadFailures(
  failures: readonly AgentFileFailure[],
  { cwd, listImportedFiles }: LoadFailureContext,
): Promise<ConsoleLoadFailure[]> {
  return await Promise.all(
    failures.map(async ({ file, reason, error, keepsEarlierAgents }) => ({
      file: toRelativePath(file, cwd),
      message: `${reason.replace(/\.$/, "")}.`,
      keepsEarlierAgents,
      ...(error === undefined ? {} : { stack: await formatLoadError(error, listImportedFiles(file), cwd) }),
    })),
  );
}
