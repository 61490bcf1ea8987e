import { spawnSync, type SpawnSyncOptions, type SpawnSyncReturns } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const repositoryRoot = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a program in the repository, by default with the terminal of this process. Throws if it does not start. */
export function runProgram(
  command: string,
  args: readonly string[],
  options: SpawnSyncOptions = {},
): SpawnSyncReturns<string> {
  const result = spawnSync(command, args, {
    cwd: repositoryRoot,
    stdio: "inherit",
    ...options,
    encoding: "utf8",
    // On Windows, npm and the programs of packages are scripts of the shell.
    shell: process.platform === "win32" && command !== process.execPath,
  });
  if (result.error !== undefined) throw result.error;
  return result;
}

/** Runs a program like {@link runProgram}, and ends this process if the program fails. */
export function runProgramOrExit(...parameters: Parameters<typeof runProgram>): SpawnSyncReturns<string> {
  const result = runProgram(...parameters);
  if (result.status !== 0) process.exit(result.status ?? 1);
  return result;
}
