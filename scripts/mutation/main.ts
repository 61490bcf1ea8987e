/**
 * Changes one operator, literal, or statement of a source at a time, and runs the tests of its room. A change
 * that no test notices is a survivor. A survivor that test/mutation/expected-survivors.json does not explain
 * fails the run. Results are kept in reports/mutation.jsonl, so that the next run continues where the last
 * run ended.
 *
 *   npm run mutation -- [--only TEXT] [--sample N] [--minutes N] [--fresh]
 *
 * The tests that import the source run first, and those of the same name before all others. `--sample N`
 * draws N mutants per file by their hash, so that each run draws the same.
 */
import { fork, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { applyMutant, listMutants, type Mutant } from "./list-mutants.ts";
import type { MutantRequest, MutantResponse } from "./mutant-runner.ts";

const MUTATED_ROOMS = ["src/adk", "src/engine"];

interface MutantResult {
  readonly file: string;
  /** Hash of the source and its tests. A result is valid only for this state. */
  readonly state: string;
  readonly mutant: string;
  readonly line: number;
  readonly change: string;
  readonly outcome: "killed" | "survived" | "timeout";
  /** Name of the test that noticed the change. */
  readonly test?: string;
}

interface ExpectedSurvivor {
  readonly file: string;
  /** Ids of mutants that survive for the same reason. */
  readonly mutants: readonly string[];
  readonly reason: string;
}

/** The result of `runTests` if the tests do not end in time, such as in an endless loop. */
const TIMEOUT = Symbol("timeout");

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    sample: { type: "string", default: "1000" },
    minutes: { type: "string", default: "600" },
    fresh: { type: "boolean", default: false },
  },
});
const root = fileURLToPath(new URL("../..", import.meta.url));
const resultsFile = join(root, "reports/mutation.jsonl");
const copy = copyRepository();
const deadline = Date.now() + Number(values.minutes) * 60_000;

const files = MUTATED_ROOMS.flatMap((room) => globSync(`${room}/*.ts`, { cwd: copy }))
  .filter((file) => !/\.(?:test|fixture|contract|d)\.ts$/.test(file) && file.includes(values.only))
  .toSorted();
if (files.length === 0)
  throw new Error(`--only ${values.only} matches no file of ${MUTATED_ROOMS.join(", ")}`);

mkdirSync(dirname(resultsFile), { recursive: true });
if (values.fresh) rmSync(resultsFile, { force: true });
const results = new Map<string, MutantResult>();
if (existsSync(resultsFile))
  for (const line of readFileSync(resultsFile, "utf8").split("\n").filter(Boolean)) {
    const result = JSON.parse(line) as MutantResult;
    results.set(`${result.file} ${result.state} ${result.mutant}`, result);
  }

const survivors: MutantResult[] = [];
let runner: ChildProcess | undefined;
for (const file of files) {
  const source = readFileSync(join(copy, file), "utf8");
  const tests = listTests(file);
  if (tests.length === 0) continue;
  const state = createHash("sha256");
  for (const path of [file, ...tests.flat()]) state.update(readFileSync(join(copy, path)));
  const fileState = state.digest("hex").slice(0, 8);
  const mutants = drawSample(listMutants(source), Number(values.sample));
  // A runner that has already run other mutants sometimes serves a stale module to the next file.
  await stopRunner();
  const timeoutMs = 20 * (await measureFirstTests(file, tests)) + 60_000;
  const counts = { killed: 0, survived: 0, timeout: 0 };
  for (const mutant of mutants) {
    const known = results.get(`${file} ${fileState} ${mutant.id}`);
    if (!known && Date.now() > deadline) break;
    const result =
      known ?? (await testMutant(file, fileState, applyMutant(source, mutant), mutant, tests, timeoutMs));
    counts[result.outcome]++;
    if (result.outcome === "survived") survivors.push(result);
  }
  console.log(
    `${file}: ${counts.killed + counts.timeout} of ${counts.killed + counts.timeout + counts.survived} noticed (${mutants.length} drawn)`,
  );
}
await stopRunner();
rmSync(copy, { recursive: true, force: true });
process.exitCode = reportSurvivors();

/** Copies what the tests read to a temporary folder, so that no mutant is ever in the repository. */
function copyRepository(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "colloquy-mutation-")));
  for (const path of ["src", "test", "package.json", "tsconfig.json", "vitest.config.ts"])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/**
 * Returns the tests of a file, relative to the root, in the groups in which they run: the test of the same
 * name, the tests that import the file, and the other tests of the room.
 */
function listTests(file: string): string[][] {
  const own = file.replace(/\.ts$/, ".test.ts");
  const importsFile = (test: string): boolean =>
    readFileSync(join(copy, test), "utf8").includes(`/${basename(file)}"`);
  const roomTests = globSync(`${dirname(file)}/*.test.ts`, { cwd: copy }).toSorted();
  const rank = (test: string): number => (test === own ? 0 : importsFile(test) ? 1 : 2);
  return [0, 1, 2]
    .map((wanted) => roomTests.filter((test) => rank(test) === wanted))
    .filter((group) => group.length > 0);
}

function drawSample(mutants: readonly Mutant[], size: number): Mutant[] {
  const chosen = new Set(mutants.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, size));
  return mutants.filter((mutant) => chosen.has(mutant));
}

/** Runs the first tests on the unchanged file. Resolves with their duration, in milliseconds. */
async function measureFirstTests(file: string, tests: readonly string[][]): Promise<number> {
  const began = Date.now();
  const failedTest = await runTests(file, readFileSync(join(copy, file), "utf8"), tests.slice(0, 1), 600_000);
  if (failedTest !== undefined)
    throw new Error(`Without a mutant, this test of ${file} fails: ${String(failedTest)}`);
  return Date.now() - began;
}

async function testMutant(
  file: string,
  state: string,
  source: string,
  { id, line, change }: Mutant,
  tests: readonly string[][],
  timeoutMs: number,
): Promise<MutantResult> {
  const failedTest = await runTests(file, source, tests, timeoutMs);
  const outcome = failedTest === undefined ? "survived" : failedTest === TIMEOUT ? "timeout" : "killed";
  const result: MutantResult = {
    file,
    state,
    mutant: id,
    line,
    change,
    outcome,
    ...(typeof failedTest === "string" ? { test: failedTest } : {}),
  };
  appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
  if (outcome === "survived") console.log(`  survived ${id}  ${file}:${line}  ${change}`);
  return result;
}

/** Resolves with the name of the first test that failed, or with `undefined` if all tests passed. */
async function runTests(
  file: string,
  source: string,
  tests: readonly string[][],
  timeoutMs: number,
): Promise<string | typeof TIMEOUT | undefined> {
  const original = readFileSync(join(copy, file), "utf8");
  runner ??= await startRunner();
  const child = runner;
  child.send({
    file: join(copy, file),
    source,
    tests: tests.map((group) => group.map((test) => join(copy, test))),
  } satisfies MutantRequest);
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  const settled = new AbortController();
  const response = await Promise.race([
    once(child, "message", settled).then(([message]) => message as MutantResponse),
    once(child, "exit", settled).then(() => TIMEOUT),
  ]);
  settled.abort();
  clearTimeout(timer);
  if (response === TIMEOUT || typeof response === "symbol") {
    runner = undefined;
    // The killed process cannot restore the file itself.
    writeFileSync(join(copy, file), original);
    return TIMEOUT;
  }
  return "failedTest" in response ? response.failedTest : undefined;
}

async function stopRunner(): Promise<void> {
  if (!runner) return;
  const exit = once(runner, "exit");
  runner.kill();
  await exit;
  runner = undefined;
}

async function startRunner(): Promise<ChildProcess> {
  const child = fork(new URL("mutant-runner.ts", import.meta.url), {
    cwd: copy,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await once(child, "message");
  return child;
}

/** Compares the survivors with the expected survivors. Returns the exit code. */
function reportSurvivors(): number {
  const file = join(root, "test/mutation/expected-survivors.json");
  const expected = JSON.parse(readFileSync(file, "utf8")) as ExpectedSurvivor[];
  const unexplained = survivors.filter(
    (survivor) =>
      !expected.some((entry) => entry.file === survivor.file && entry.mutants.includes(survivor.mutant)),
  );
  for (const { file: place, line, mutant, change } of unexplained)
    console.log(`unexplained ${mutant}  ${place}:${line}  ${change}`);
  console.log(`${survivors.length} survivors, ${unexplained.length} without a reason`);
  return unexplained.length === 0 ? 0 : 1;
}
