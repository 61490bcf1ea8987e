import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const PRELOAD = fileURLToPath(new URL("./count-modules.mjs", import.meta.url));
const CLI_ARGUMENTS = ["--version", "--help"];

/**
 * Counts the modules that each entry of a built checkout and the command line load, without the modules of Node. An entry
 * that needs a package that is not installed has no count. The counts do not depend on the machine.
 */
export async function countLoadedModules(root: string): Promise<Record<string, number>> {
  const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, unknown>>;
  };
  const counts: Record<string, number> = {};
  const entries = Object.keys(exports).filter((path) => !path.endsWith(".json"));
  for (const entry of entries.map((path) => name + path.slice(1))) {
    const count = await countModulesOfEntry(root, entry);
    if (count !== undefined) counts[entry] = count;
  }
  for (const argument of CLI_ARGUMENTS) {
    const count = await countModulesOfCommand(root, [argument]);
    if (count !== undefined) counts[`CLI ${argument}`] = count;
  }
  return counts;
}

/** Counts the modules that the import of an entry loads. Returns `undefined` if the import fails. */
export function countModulesOfEntry(root: string, entry: string): Promise<number | undefined> {
  const program = `await import("${entry}"); process.exit()`;
  return countModulesOfProgram(root, ["--input-type=module", "--eval", program]);
}

/** Counts the modules that a call of the command line loads. Returns `undefined` if the call fails. */
export function countModulesOfCommand(root: string, args: readonly string[]): Promise<number | undefined> {
  return countModulesOfProgram(root, [join(root, "bin/colloquy.js"), ...args]);
}

async function countModulesOfProgram(root: string, args: readonly string[]): Promise<number | undefined> {
  try {
    const { stderr } = await promisify(execFile)(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", "--import", PRELOAD, ...args],
      { cwd: root },
    );
    const [, count] = /^loaded modules: (\d+)$/m.exec(stderr) ?? [];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}
