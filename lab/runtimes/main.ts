/**
 * `npm run lab -- runtimes` runs the contract suites on Node.js, Bun, Deno, and workerd, and writes the table of
 * docs/runtimes.md. `--only bun` runs the runtimes whose name contains the text, and writes their rows. `--suite client`
 * runs one suite, and writes its cells.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { bundleSuiteForProcess } from "./bundle-suite.ts";
import {
  installManifest,
  listProcessRuntimes,
  type ProcessRuntime,
  readRuntimeVersion,
  repositoryRoot,
} from "./installed-runtimes.ts";
import { renderRuntimeTable, type SuiteName, type SuiteOutcome, SUITES } from "./runtime-table.ts";
import { runDocument } from "../../test/documents/run-document.ts";
import { runWorkerSuites, WORKER_RUNTIMES } from "./run-worker-suites.ts";

interface TestResult {
  readonly name: string;
  readonly error?: string;
}

const { values } = parseArgs({ options: { only: { type: "string" }, suite: { type: "string" } } });
const isSelected = (name: string): boolean => name.toLowerCase().includes((values.only ?? "").toLowerCase());
const suites = (Object.keys(SUITES) as SuiteName[]).filter((suite) => suite === (values.suite ?? suite));

const folder = installManifest("lab/runtimes/package.json", "colloquy-runtimes");
const outcomes: SuiteOutcome[] = [];
const runtimes = listProcessRuntimes(folder).filter(({ name }) => isSelected(name));
const bundles = new Map<SuiteName, string>();
for (const suite of runtimes.length > 0 ? suites.filter((name) => name !== "tutorial") : [])
  bundles.set(suite, await bundleSuiteForProcess(suite, folder));

for (const runtime of runtimes) {
  const version = readRuntimeVersion(runtime);
  for (const [suite, file] of bundles)
    report({ runtime: runtime.name, version, suite }, runProgram(runtime, file));
  if (suites.includes("tutorial"))
    report({ runtime: runtime.name, version, suite: "tutorial" }, await runTutorial(runtime));
}
for (const runtime of WORKER_RUNTIMES.filter(isSelected)) {
  const { version, results } = await runWorkerSuites(runtime, folder, suites);
  for (const [suite, tests] of results) report({ runtime, version, suite }, tests);
}

const page = join(repositoryRoot, "docs/runtimes.md");
writeFileSync(page, renderRuntimeTable(readFileSync(page, "utf8"), outcomes));
process.exitCode = outcomes.every(({ failed }) => failed.length === 0) ? 0 : 1;

function report(
  run: Pick<SuiteOutcome, "runtime" | "version" | "suite">,
  results: readonly TestResult[],
): void {
  const failed = results.filter(({ error }) => error !== undefined);
  outcomes.push({ ...run, passed: results.length - failed.length, failed: failed.map(({ name }) => name) });
  console.log(
    `${run.runtime} ${run.version}, ${run.suite}: ${results.length - failed.length} passed, ${failed.length} failed`,
  );
  for (const { name, error = "" } of failed)
    console.log(`  ${name}\n    ${error.split("\n").slice(0, 12).join("\n    ")}`);
}

/** Runs the commands of the tutorial line by line, with the runtime in place of `node` and `npx`. */
async function runTutorial({ command }: ProcessRuntime): Promise<TestResult[]> {
  const name = "the tutorial";
  const { printed, shown } = await runDocument("docs/tutorial.md", undefined, [...command]);
  return [printed === shown ? { name } : { name, error: `${printed}\n\nThe page shows:\n${shown}` }];
}

function runProgram({ command: [program = "", ...args] }: ProcessRuntime, file: string): TestResult[] {
  const { stdout, stderr } = spawnSync(program, [...args, file], {
    encoding: "utf8",
    timeout: 600_000,
    maxBuffer: 2 ** 28,
    cwd: folder,
  });
  const line = stdout?.split("\n").findLast((one) => one.startsWith("RESULTS "));
  const results = line ? (JSON.parse(line.slice("RESULTS ".length)) as TestResult[]) : [];
  if (results.length > 0) return results;
  return [{ name: "the suite starts", error: `${stdout?.slice(-500)}\n${stderr?.slice(-1500)}` }];
}
