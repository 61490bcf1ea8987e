import process from "node:process";
import { fileURLToPath } from "node:url";
import { CliTestProcess, createTempTestDirectoryWithFiles } from "../../src/cli/cli-test-process.fixture.ts";

const repositoryRoot = fileURLToPath(new URL("../..", import.meta.url));

/** Starts a file of the repository in an empty folder. Its imports of Colloquy load the built package. */
export async function startExample(file: string, env: Record<string, string> = {}): Promise<CliTestProcess> {
  const cwd = await createTempTestDirectoryWithFiles({});
  return new CliTestProcess(process.execPath, [repositoryRoot + file], cwd, { NODE_OPTIONS: "", ...env });
}

/** Starts the built command line in a folder. */
export function startBuiltCli(
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): CliTestProcess {
  const bin = `${repositoryRoot}bin/colloquy.js`;
  return new CliTestProcess(process.execPath, [bin, ...args], cwd, { NODE_OPTIONS: "", ...env });
}
