import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { EXPECTED_FAILURES, getRunName } from "./expected-failures.ts";
import { listProcessRuntimes } from "./installed-runtimes.ts";
import { renderRuntimeTable, SUITES, type SuiteName } from "./runtime-table.ts";
import { WORKER_RUNTIMES } from "./run-worker-suites.ts";

describe("the expected failures of npm run runtimes", () => {
  it("belong to runtimes and suites that exist", () => {
    const runtimes = [...listProcessRuntimes("").map(({ name }) => name), ...WORKER_RUNTIMES];
    const suites = Object.keys(SUITES) as SuiteName[];
    const runs = new Set(runtimes.flatMap((runtime) => suites.map((suite) => getRunName(runtime, suite))));
    expect(EXPECTED_FAILURES.flatMap(({ runs: own }) => own.filter((run) => !runs.has(run)))).toEqual([]);
  });

  it("are listed on the page of the runtimes", async () => {
    const page = await readFile(new URL("../../docs/runtimes.md", import.meta.url), "utf8");
    const text = page.replaceAll(/\s+/g, " ");
    const titles = EXPECTED_FAILURES.map(({ test }) => test.slice(test.indexOf(" > ") + 3));
    expect(titles.filter((title) => !text.includes(title.replace(/ \[.*\]$/, "")))).toEqual([]);
  });
});

describe("the table of the runtimes", () => {
  const page = "<!-- written by npm run runtimes -->\n<!-- end of the written part -->";
  const outcome = { runtime: "Bun", version: "1.4.5", suite: "client", passed: 71 } as const;

  it("distinguishes expected failures from other failures", () => {
    const render = (failed: readonly string[], expectedFailures: number): string =>
      renderRuntimeTable(page, [{ ...outcome, failed, expectedFailures }]);
    expect(render([], 0)).toContain("| 71 passed |");
    expect(render([], 9)).toContain("| 71 passed, 9 failed as expected |");
    expect(render(["a"], 0)).toContain("| 71 passed, 1 failed |");
    expect(render(["a"], 9)).toContain("| 71 passed, 9 failed as expected, 1 failed |");
  });
});
