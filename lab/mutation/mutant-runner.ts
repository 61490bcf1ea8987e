/**
 * A child process of `main.ts`, which runs in a copy of the repository and keeps vitest warm. The parent kills
 * the process if a mutant does not terminate. Arguments: the number of failed tests after which a run stops
 * (0 is no limit), and the time limit of a test, in milliseconds.
 */
import {
  BaseSequencer,
  createVitest,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from "vitest/node";

/** Parent to child: the paths of the tests, from the root, in the order in which they run. */
export interface TestRequest {
  readonly tests: readonly string[];
}

/** Child to parent after each file of a run. */
export type FileEnded = "file ended";

/** Child to parent at the end of a run. */
export interface TestResponse {
  /** The first test that failed, its file, and the first line of its error. */
  readonly failure?: { readonly file: string; readonly test: string; readonly error: string };
  /** Duration of each file that ended, and of the slowest test, in milliseconds. */
  readonly fileDurations: Readonly<Record<string, number>>;
  readonly slowestTestMs: number;
}

class GivenOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files);
  }
}

const [bail = 0, testTimeout = 0] = process.argv.slice(2).map(Number);
// The results of `runTestSpecifications` contain the modules of earlier runs, so a reporter collects them.
const endedModules: TestModule[] = [];
const vitest: Vitest = await createVitest({
  watch: false,
  reporters: [{ onTestModuleEnd: collectEndedModule }],
  silent: true,
  bail,
  testTimeout,
  sequence: { sequencer: GivenOrder },
});
await vitest.standalone();
process.send?.("ready");

process.on("message", ({ tests }: TestRequest) => {
  void runTestFiles(tests).then((response) => process.send?.(response));
});

function collectEndedModule(module: TestModule): void {
  endedModules.push(module);
  process.send?.("file ended" satisfies FileEnded);
}

async function runTestFiles(tests: readonly string[]): Promise<TestResponse> {
  const project = vitest.getRootProject();
  const specifications = tests.map((test) => project.createSpecification(`${project.config.root}/${test}`));
  endedModules.length = 0;
  const { unhandledErrors } = await vitest.runTestSpecifications(specifications);
  let failure: TestResponse["failure"];
  let slowestTestMs = 0;
  const fileDurations: Record<string, number> = {};
  for (const module of endedModules) {
    const file = module.relativeModuleId;
    const { collectDuration, duration, setupDuration } = module.diagnostic();
    fileDurations[file] = collectDuration + duration + setupDuration;
    for (const test of module.children.allTests())
      slowestTestMs = Math.max(slowestTestMs, test.diagnostic()?.duration ?? 0);
    const [failed] = module.children.allTests("failed");
    if (failed) failure ??= { file, test: failed.fullName, error: getFirstLine(failed.result().errors?.[0]) };
    else if (module.state() === "failed")
      failure ??= { file, test: "the file as a whole", error: getFirstLine(module.errors()[0]) };
  }
  if (unhandledErrors.length > 0)
    failure ??= {
      file: tests[0] ?? "",
      test: "an unhandled error",
      error: getFirstLine(unhandledErrors[0]),
    };
  return { ...(failure ? { failure } : {}), fileDurations, slowestTestMs };
}

function getFirstLine(error: unknown): string {
  const message = error !== null && typeof error === "object" && "message" in error ? error.message : error;
  return String(message).split("\n")[0] ?? "";
}
