import type { TestResult } from "./run-conversation-test.ts";

/** A test in a JUnit report. */
export type JunitCase = Pick<TestResult, "name" | "durationMs" | "failures" | "transcript"> & {
  /** Why the test proves nothing. Absent for tests that passed or failed. */
  readonly skipped?: string | undefined;
};

/** Characters that XML 1.0 does not allow, even as references. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const REFERENCES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

/** Renders results in the JUnit format, which build servers show. Each file is a suite. */
export function renderJunitReport(suites: ReadonlyMap<string, readonly JunitCase[]>): string {
  const all = [...suites.values()].flat();
  const body = [...suites].map(
    ([name, results]) => `  <testsuite name="${escape(name)}" ${summarize(results)}>
${results.map((result) => renderCase(name, result)).join("\n")}
  </testsuite>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${summarize(all)}>
${body.join("\n")}
</testsuites>
`;
}

function summarize(results: readonly JunitCase[]): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const skipped = results.filter((result) => result.skipped !== undefined).length;
  const skips = skipped === 0 ? "" : ` skipped="${skipped}"`;
  return `tests="${results.length}" failures="${failed}" errors="0"${skips} time="${seconds.toFixed(3)}"`;
}

function renderCase(suite: string, { name, durationMs, failures, transcript, skipped }: JunitCase): string {
  const open = `    <testcase classname="${escape(suite)}" name="${escape(name)}" time="${(durationMs / 1000).toFixed(3)}"`;
  if (skipped !== undefined) return `${open}><skipped message="${escape(skipped)}"/></testcase>`;
  if (failures.length === 0) return `${open}/>`;
  return `${open}>
      <failure message="${escape(failures[0] ?? "")}">${escape(`${failures.join("\n")}\n\n${transcript}`)}</failure>
    </testcase>`;
}

function escape(text: string): string {
  return text.replaceAll(FORBIDDEN, "\ufffd").replaceAll(/[&<>"\n]/g, (found) => REFERENCES[found] ?? found);
}
