import { fork, type ChildProcess, type ForkOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const testFolder = import.meta.dirname;
const packageLoaderUrl = new URL("from-source.mjs", import.meta.url).href;

/** Returns the name of a script's entry in the bundle of `bundle-for-test-processes.ts`. */
export function getBundleEntryName(script: string): string {
  return `test-${relative(testFolder, script).replaceAll(/[\\/]/g, "-").replace(/\.ts$/, "")}`;
}

/** Returns the bundle of a script within a run of the tests, or `undefined`. */
function findBundledScript(file: string): string | undefined {
  const { COLLOQUY_TEST_BUNDLE: folder } = process.env;
  const bundled = folder === undefined ? undefined : join(folder, `${getBundleEntryName(file)}.js`);
  return bundled !== undefined && existsSync(bundled) ? bundled : undefined;
}

/** Returns the arguments of Node.js that run a script: its bundle within a run of the tests, and its source otherwise. */
export function getScriptArguments(script: URL): string[] {
  const file = fileURLToPath(script);
  const bundled = findBundledScript(file);
  return bundled === undefined ? [file] : ["--import", packageLoaderUrl, bundled];
}

/** Starts a script as a child process: its bundle within a run of the tests, and its source otherwise. */
export function forkScript(script: URL, args: readonly string[], options: ForkOptions = {}): ChildProcess {
  const file = fileURLToPath(script);
  const bundled = findBundledScript(file);
  if (bundled === undefined) return fork(file, args, options);
  return fork(bundled, args, { execArgv: ["--import", packageLoaderUrl], ...options });
}
