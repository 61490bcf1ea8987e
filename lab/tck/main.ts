/**
 * Runs the official compatibility kits (a2aproject/a2a-tck) against the agent under test: the kit for A2A 1.0
 * in both revisions, and the kit for 0.3 over each transport. It compares the failures with
 * lab/tck/expected-*.json. An unexpected failure fails the run. An expected failure that does not occur
 * fails the run, too.
 *
 *   npm run lab -- tck --v1.0 PATH --v0.3 PATH [--python PATH] [--store memory|sqlite:FILE] [--only TEXT]
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { countUnexpectedOutcomes, type ExpectedFailure } from "./count-unexpected-outcomes.ts";
import { parseJunitReport } from "./junit-report.ts";
import { COMPATIBILITY_KITS, type CompatibilityKit, type KitRun } from "./compatibility-kits.ts";
import { repositoryRoot, withAgentUnderTest } from "./with-agent-under-test.ts";

const USAGE =
  "usage: npm run lab -- tck --v1.0 PATH --v0.3 PATH [--python PATH] [--store memory|sqlite:FILE] [--only TEXT]";

const commandLineOptions = readOptions();

const chosenKits = COMPATIBILITY_KITS.flatMap((kit) => {
  const path = commandLineOptions[`v${kit.version}`];
  return path === undefined ? [] : [{ kit, place: resolve(path) }];
});
if (chosenKits.length === 0) {
  exitWithError(
    [
      "Pass the path of at least one kit:",
      ...COMPATIBILITY_KITS.map(
        ({ version, branch, commit }) =>
          `  git clone -b ${branch} https://github.com/a2aproject/a2a-tck tck-${version} && git -C tck-${version} checkout ${commit}   # then --v${version} tck-${version}`,
      ),
    ].join("\n"),
  );
}

const chosenKitRunNames = chosenKits.flatMap(({ kit }) => kit.runs.map(({ name }) => name));
// A filter that matches no run is an error, not a success.
if (!chosenKitRunNames.some((name) => name.includes(commandLineOptions.only)))
  exitWithError(
    `--only ${commandLineOptions.only} matches no run. Available runs: ${chosenKitRunNames.join(", ")}`,
  );

let unexpectedOutcomeCount = 0;
for (const { kit, place } of chosenKits) {
  const python = await findPython(kit, place);
  const file = join(repositoryRoot, `lab/tck/expected-${kit.version}.json`);
  const expected = JSON.parse(readFileSync(file, "utf8")) as ExpectedFailure[];
  for (const run of kit.runs.filter(({ name }) => name.includes(commandLineOptions.only))) {
    unexpectedOutcomeCount += await runKit(kit, run, { kitFolder: place, python, expected });
  }
}
process.exit(unexpectedOutcomeCount === 0 ? 0 : 1);

function readOptions(): { python?: string; store: string; only: string } & Partial<
  Record<`v${CompatibilityKit["version"]}`, string>
> {
  try {
    return parseArgs({
      options: {
        "v1.0": { type: "string" },
        "v0.3": { type: "string" },
        python: { type: "string" },
        store: { type: "string", default: "memory" },
        only: { type: "string", default: "" },
      },
    }).values;
  } catch (error) {
    return exitWithError(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  }
}

interface RunKitOptions {
  readonly kitFolder: string;
  readonly python: string;
  readonly expected: readonly ExpectedFailure[];
}

/** Runs a kit once. Returns the number of unexpected outcomes. */
async function runKit(
  kit: CompatibilityKit,
  run: KitRun,
  { kitFolder, python, expected }: RunKitOptions,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-tck-"));
  const report = join(folder, "junit.xml");
  const flags = [
    "--store",
    commandLineOptions.store,
    "--allow-private-webhooks",
    "--grpc-port",
    "0",
    "--strict",
    ...run.sutFlags,
  ];
  try {
    await withAgentUnderTest(flags, async (url) => {
      console.log(`A2A TCK ${kit.version} against ${url}: ${run.description} (several minutes) …`);
      const args = ["-m", "pytest", "-p", "no:cacheprovider", `--junit-xml=${report}`];
      const pytest = spawn(python, [...args, ...run.getPytestArguments(url, folder)], {
        cwd: kitFolder,
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...process.env, PYTHONWARNINGS: "ignore", TCK_STREAMING_TIMEOUT: "5.0" },
      });
      await waitForExit(pytest);
    });
    return countUnexpectedOutcomes(
      parseJunitReport(readFileSync(report, "utf8")),
      run.name,
      expected,
      console.log,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the Python interpreter given on the command line, the kit's own, or the host's. It must have the
 * modules that the kit requires.
 */
async function findPython(
  { testFolder, version, branch, pythonModules }: CompatibilityKit,
  path: string,
): Promise<string> {
  if (!existsSync(join(path, testFolder))) {
    exitWithError(
      `${path} is not the kit for ${version}. Check out the branch ${branch} of a2aproject/a2a-tck.`,
    );
  }
  const kitPython = join(path, ".venv/bin/python");
  const named = commandLineOptions.python ?? (existsSync(kitPython) ? kitPython : "python3");
  // The interpreter starts in the folder of the kit. A name without a slash refers to `PATH`.
  const python = named.includes("/") ? resolve(named) : named;
  const child = spawn(python, ["-c", `import ${pythonModules}`], { stdio: "ignore", cwd: path });
  if ((await waitForExit(child)) === 0) return python;
  return exitWithError(
    `The kit for ${version} requires Python 3.11 or newer with its packages. Run \`cd ${path} && python3 -m venv .venv && .venv/bin/pip install -e .\`, or pass a Python interpreter with --python.`,
  );
}

/** Resolves with the exit code, or with `undefined` if the program could not be started. */
function waitForExit(child: ReturnType<typeof spawn>): Promise<number | null | undefined> {
  return new Promise((done) => {
    child.once("error", () => done(undefined)).once("exit", (code) => done(code));
  });
}

function exitWithError(line: string): never {
  console.error(line);
  process.exit(2);
}
