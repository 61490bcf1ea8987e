/**
 * A child process of `main.ts`, which runs in a copy of the repository. It keeps vitest warm, and runs tests
 * with one changed source at a time. The parent kills the process if a mutant does not terminate.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createVitest, type Vitest } from "vitest/node";

/** Parent to child: the source of a file, and the groups of tests to run in order. Paths are absolute. */
export interface MutantRequest {
  readonly file: string;
  readonly source: string;
  readonly tests: readonly (readonly string[])[];
}

/** Child to parent. */
export type MutantResponse = { readonly ready: true } | { readonly failedTest: string | undefined };

const vitest: Vitest = await createVitest({ watch: false, bail: 1, reporters: [{}], silent: true });
await vitest.standalone();
send({ ready: true });

process.on("message", (request: MutantRequest) => {
  void runMutant(request).then((failedTest) => send({ failedTest }));
});

/** Resolves with the name of the first test that failed, or with `undefined` if all tests passed. */
async function runMutant({ file, source, tests }: MutantRequest): Promise<string | undefined> {
  const original = readFileSync(file, "utf8");
  writeSource(file, source);
  try {
    return await findFailedTest(tests);
  } finally {
    // The tests of the next file must not see this mutant.
    writeSource(file, original);
  }
}

function writeSource(file: string, source: string): void {
  writeFileSync(file, source);
  vitest.invalidateFile(file);
}

async function findFailedTest(tests: MutantRequest["tests"]): Promise<string | undefined> {
  for (const group of tests) {
    const specifications = group.map((test) => vitest.getRootProject().createSpecification(test));
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
    for (const module of testModules) {
      for (const { fullName } of module.children.allTests("failed")) return fullName;
      if (!module.ok()) return module.relativeModuleId;
    }
    if (unhandledErrors.length > 0) return "an unhandled error";
  }
  return undefined;
}

function send(response: MutantResponse): void {
  process.send?.(response);
}
