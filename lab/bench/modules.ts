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
  const programs: [subject: string, args: readonly string[]][] = [
    ...Object.keys(exports)
      .filter((entry) => !entry.endsWith(".json"))
      .map((entry): [string, string[]] => [
        name + entry.slice(1),
        ["--input-type=module", "--eval", `await import("${name + entry.slice(1)}"); process.exit()`],
      ]),
    ...CLI_ARGUMENTS.map((argument): [string, string[]] => [
      `CLI ${argument}`,
      [join(root, "bin/colloquy.js"), argument],
    ]),
  ];
  const counts: Record<string, number> = {};
  for (const [subject, args] of programs) {
    const count = await countModulesOfProgram(root, args);
    if (count !== undefined) counts[subject] = count;
  }
  return counts;
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
