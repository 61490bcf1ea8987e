/**
 * Measures how long the import of an entry and a call of the command line take, relative to the import of
 * `@a2a-js/sdk/server` and to `node -e 0`: `npm run bench -- start-up`. The programs alternate, so that other work on the
 * machine affects all of them. Uses the package in `dist/`, which `npm run build` creates.
 *
 *   node lab/bench/start-up.ts [--rounds NUMBER]
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { CHECKOUT_ROOT } from "./builds.ts";

const importOf = (entry: string): string[] => ["--input-type=module", "--eval", `await import("${entry}")`];
const COLLOQUY = join(CHECKOUT_ROOT, "bin/colloquy.js");

/** The programs, each with the program that it is compared with. */
const PROGRAMS: Readonly<Record<string, { readonly args: readonly string[]; readonly floor?: string }>> = {
  "node -e 0": { args: ["-e", "0"] },
  "import @a2a-js/sdk/server": { args: importOf("@a2a-js/sdk/server"), floor: "node -e 0" },
  "import colloquy": { args: importOf("colloquy"), floor: "import @a2a-js/sdk/server" },
  "import colloquy/client": { args: importOf("colloquy/client"), floor: "import @a2a-js/sdk/server" },
  "colloquy --version": { args: [COLLOQUY, "--version"], floor: "node -e 0" },
  "colloquy send --help": { args: [COLLOQUY, "send", "--help"], floor: "node -e 0" },
};

const { values } = parseArgs({ options: { rounds: { type: "string", default: "15" } } });
const times = new Map(Object.keys(PROGRAMS).map((name) => [name, [] as number[]]));
for (let round = 0; round < Number(values.rounds); round++)
  for (const [name, { args }] of Object.entries(PROGRAMS)) times.get(name)?.push(measureMs(args));

console.log("program | median ms | fastest ms | ratio of the medians | ratio of the fastest");
for (const [name, { floor }] of Object.entries(PROGRAMS)) {
  const columns = [name, findMedian(name).toFixed(0), findFastest(name).toFixed(0)];
  if (floor !== undefined) {
    columns.push(`${(findMedian(name) / findMedian(floor)).toFixed(1)} × ${floor}`);
    columns.push((findFastest(name) / findFastest(floor)).toFixed(1));
  }
  console.log(columns.join(" | "));
}

function measureMs(args: readonly string[]): number {
  const began = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: CHECKOUT_ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`node ${args.join(" ")} failed. Run npm run build first.\n${stderr}`);
  return performance.now() - began;
}

function findMedian(name: string): number {
  const sorted = (times.get(name) ?? []).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function findFastest(name: string): number {
  return Math.min(...(times.get(name) ?? []));
}
