/**
 * Changes one operator, literal, or statement of a source at a time, and runs the tests of its room. A change
 * that no test notices is a survivor. A survivor that lab/mutation/expected-survivors.json does not explain
 * fails the run. Results are kept in reports/mutation.jsonl, so that the next run continues where the last
 * run ended.
 *
 *   npm run lab -- mutation [--only TEXT] [--sample N] [--minutes N] [--fresh]
 *
 * The copy of each source contains all of its mutants, and the file `active-mutant` selects one. A first run of
 * all tests records which test files reach which mutant, so that a mutant runs only with these. `--sample N`
 * draws N mutants per file by their hash, so that each run draws the same.
 */
import { createHash } from "node:crypto";
import {
  appendFileSync,
  copyFileSync,
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
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { getMutantKey, insertMutantSwitches, SWITCH_MODULE } from "./insert-mutant-switches.ts";
import { listMutants, type Mutant } from "./list-mutants.ts";
import { TestProcess } from "./test-process.ts";

const MUTATED_ROOMS = ["src/agents/adk", "src/engine"];

interface MutantResult {
  readonly file: string;
  readonly mutant: string;
  readonly line: number;
  readonly change: string;
  readonly outcome: "killed" | "survived" | "timeout";
  /** Title of the test that noticed the change, and the first line of its error. */
  readonly test?: string;
  readonly error?: string;
  /** The file of that test, or else all test files that reach the mutant. */
  readonly testFiles: readonly string[];
  /** Hash of the source and `testFiles`. A result is valid only for this state. */
  readonly state: string;
}

interface MutatedSource {
  readonly file: string;
  readonly mutants: readonly Mutant[];
}

interface ExpectedSurvivor {
  readonly file: string;
  /** Ids of mutants that survive for the same reason. */
  readonly mutants: readonly string[];
  readonly reason: string;
}

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    sample: { type: "string", default: "1000" },
    minutes: { type: "string", default: "600" },
    fresh: { type: "boolean", default: false },
  },
});
const deadline = Date.now() + Number(values.minutes) * 60_000;
const root = fileURLToPath(new URL("../..", import.meta.url));
const resultsFile = join(root, "reports/mutation.jsonl");
mkdirSync(dirname(resultsFile), { recursive: true });
if (values.fresh) rmSync(resultsFile, { force: true });
const knownResults = readKnownResults();
const copy = copyRepository();

try {
  const sources = MUTATED_ROOMS.flatMap((room) => globSync(`${room}/**/*.ts`, { cwd: copy }))
    .filter((file) => !/\.(?:test|fixture|contract|d)\.ts$/.test(file) && file.includes(values.only))
    .toSorted()
    .map((file): MutatedSource => {
      const source = readFileSync(join(copy, file), "utf8");
      const mutants = listMutants(source);
      writeFileSync(join(copy, file), insertMutantSwitches(file, source, mutants));
      return { file, mutants: drawSample(mutants, Number(values.sample)) };
    });
  if (sources.length === 0)
    throw new Error(`--only ${values.only} matches no file of ${MUTATED_ROOMS.join(", ")}`);
  process.exitCode = reportSurvivors(await testSources(sources));
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** Copies what the tests read to a temporary folder, so that no mutant is ever in the repository. */
function copyRepository(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "colloquy-mutation-")));
  for (const path of ["src", "test", "lab", "package.json", "tsconfig.json", "vitest.config.ts"])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  copyFileSync(new URL(SWITCH_MODULE, import.meta.url), join(folder, SWITCH_MODULE));
  return folder;
}

function drawSample(mutants: readonly Mutant[], size: number): Mutant[] {
  const chosen = new Set(mutants.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, size));
  return mutants.filter((mutant) => chosen.has(mutant));
}

/**
 * Tests all mutants: the first one of each file, then the second one of each file, and so on, so that a run with
 * `--minutes` covers all files. Prints one line per file and per room, and resolves with the survivors.
 */
async function testSources(sources: readonly MutatedSource[]): Promise<MutantResult[]> {
  const reached = await recordReachedMutants(sources);
  const runner = new TestProcess(copy, {
    bail: 1,
    // On a busy machine, the first run is slow, and a mutant that hangs would take many minutes.
    testTimeoutMs: Math.max(5000, Math.min(45_000, 10 * reached.slowestTestMs)),
  });
  const results: MutantResult[] = [];
  // The test file that noticed the last mutant of a source is likely to notice the next one.
  const recentKillers = new Map(sources.map(({ file }) => [file, [file.replace(/\.ts$/, ".test.ts")]]));
  const mostMutants = Math.max(...sources.map(({ mutants }) => mutants.length));
  for (let index = 0; index < mostMutants; index++)
    for (const { file, mutants } of sources) {
      const mutant = mutants[index];
      if (!mutant) continue;
      const killers = recentKillers.get(file) ?? [];
      const tests = (reached.tests.get(getMutantKey(file, mutant)) ?? []).toSorted(
        (a, b) =>
          killers.lastIndexOf(b) - killers.lastIndexOf(a) ||
          (reached.fileDurations[a] ?? 0) - (reached.fileDurations[b] ?? 0),
      );
      const known = findKnownResult(file, mutant, tests);
      if (!known && Date.now() > deadline) continue;
      const result = known ?? (await testMutant(runner, file, mutant, tests, reached.fileDurations));
      results.push(result);
      if (result.outcome === "killed") killers.push(...result.testFiles);
    }
  await runner.stop();
  for (const { file } of sources) printCounts(file, sources, results);
  for (const room of MUTATED_ROOMS) printCounts(`${room}/`, sources, results);
  return results.filter(({ outcome }) => outcome === "survived");
}

interface ReachedMutants {
  /** Maps the key of a mutant to the test files that reach it. */
  readonly tests: ReadonlyMap<string, readonly string[]>;
  /** Durations of the test files, in milliseconds. */
  readonly fileDurations: Readonly<Record<string, number>>;
  readonly slowestTestMs: number;
}

/** The content of reports/mutation-reached.json. `state` is a hash of the sources and tests. */
type SavedReachedMutants = Omit<ReachedMutants, "tests"> & {
  readonly state: string;
  readonly tests: readonly (readonly [string, readonly string[]])[];
};

/**
 * Runs all tests of the rooms without an active mutant, unless the last run saved the result for the same
 * sources and tests. Rejects if a test fails.
 */
async function recordReachedMutants(sources: readonly MutatedSource[]): Promise<ReachedMutants> {
  const savedFile = join(root, "reports/mutation-reached.json");
  const state = hashFiles(globSync("{src,test}/**/*.ts", { cwd: copy }).toSorted());
  if (existsSync(savedFile)) {
    const saved = JSON.parse(readFileSync(savedFile, "utf8")) as SavedReachedMutants;
    if (saved.state === state) return { ...saved, tests: new Map(saved.tests) };
  }
  const rooms = MUTATED_ROOMS.filter((room) => sources.some(({ file }) => file.startsWith(`${room}/`)));
  const tests = rooms.flatMap((room) => globSync(`${room}/**/*.test.ts`, { cwd: copy })).toSorted();
  writeFileSync(join(copy, "active-mutant"), "record");
  writeFileSync(join(copy, "reached-mutants"), "");
  const runner = new TestProcess(copy, { bail: 0, testTimeoutMs: 60_000 });
  const response = await runner.runTests(tests, 600_000);
  await runner.stop();
  if (response === "timeout")
    throw new Error("Without a mutant, a test file does not end within ten minutes");
  if (response.failure)
    throw new Error(
      `Without a mutant, ${response.failure.file} fails: ${response.failure.test}. Mend it, or run the command again if the machine was busy.`,
    );
  const reached = new Map<string, Set<string>>();
  for (const line of readFileSync(join(copy, "reached-mutants"), "utf8").split("\n").filter(Boolean)) {
    const [test = "", key = ""] = line.split("\t");
    const files = reached.get(key) ?? new Set();
    reached.set(key, files.add(relative(copy, test)));
  }
  const { fileDurations, slowestTestMs } = response;
  const saved: SavedReachedMutants = {
    state,
    tests: [...reached].map(([key, files]) => [key, [...files]]),
    fileDurations,
    slowestTestMs,
  };
  writeFileSync(savedFile, JSON.stringify(saved));
  return { ...saved, tests: new Map(saved.tests) };
}

async function testMutant(
  runner: TestProcess,
  file: string,
  mutant: Mutant,
  tests: readonly string[],
  durations: Readonly<Record<string, number>>,
): Promise<MutantResult> {
  writeFileSync(join(copy, "active-mutant"), getMutantKey(file, mutant));
  const slowestFileMs = Math.max(0, ...tests.map((test) => durations[test] ?? 0));
  const response = tests.length > 0 ? await runner.runTests(tests, 2 * slowestFileMs + 60_000) : undefined;
  const failure = response === "timeout" ? undefined : response?.failure;
  const outcome = response === "timeout" ? "timeout" : failure ? "killed" : "survived";
  const testFiles = failure ? [failure.file] : tests.toSorted();
  const result: MutantResult = {
    file,
    mutant: mutant.id,
    line: mutant.line,
    change: mutant.change,
    outcome,
    ...(failure ? { test: failure.test, error: failure.error } : {}),
    testFiles,
    state: hashFiles([file, ...testFiles]),
  };
  appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
  if (outcome === "survived")
    console.log(
      `  survived ${mutant.id}  ${file}:${mutant.line}  ${mutant.change}${tests.length > 0 ? "" : "  (not reached)"}`,
    );
  return result;
}

function readKnownResults(): ReadonlyMap<string, MutantResult> {
  if (!existsSync(resultsFile)) return new Map();
  const lines = readFileSync(resultsFile, "utf8").split("\n").filter(Boolean);
  return new Map(
    lines
      .map((line) => JSON.parse(line) as MutantResult)
      .map((result) => [getMutantKey(result.file, { id: result.mutant }), result]),
  );
}

/** Returns the result of an earlier run if the source and the tests are still the same. */
function findKnownResult(file: string, mutant: Mutant, tests: readonly string[]): MutantResult | undefined {
  const known = knownResults.get(getMutantKey(file, mutant));
  if (!known) return undefined;
  const testFiles = known.outcome === "killed" ? known.testFiles : tests.toSorted();
  const testsExist = testFiles.every((test) => existsSync(join(copy, test)));
  return testsExist && known.state === hashFiles([file, ...testFiles]) ? known : undefined;
}

function hashFiles(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(join(copy, file)));
  return hash.digest("hex").slice(0, 8);
}

/** Prints how many mutants below a path were drawn, tested, and noticed. */
function printCounts(
  path: string,
  sources: readonly MutatedSource[],
  results: readonly MutantResult[],
): void {
  const drawn = sources.filter(({ file }) => file.startsWith(path)).flatMap(({ mutants }) => mutants).length;
  const tested = results.filter(({ file }) => file.startsWith(path));
  const noticed = tested.filter(({ outcome }) => outcome !== "survived").length;
  if (drawn > 0) console.log(`${path}: ${noticed} of ${tested.length} noticed (${drawn} drawn)`);
}

/** Compares the survivors with the expected survivors. Returns the exit code. */
function reportSurvivors(survivors: readonly MutantResult[]): number {
  const file = join(root, "lab/mutation/expected-survivors.json");
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
