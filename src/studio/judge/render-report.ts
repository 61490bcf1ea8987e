import { replaceControlCharacters } from "../../protocol/index.ts";
import type { TestResult } from "./acts/run-test.ts";
import { count, findUnexpected, LEVELS, type BindingReport, type ExpectedException } from "./report.ts";

/** A finished run, with the failures that the user expects. */
export interface JudgedRun {
  readonly url: string;
  readonly reports: readonly BindingReport[];
  readonly expected: readonly ExpectedException[];
}

interface Finding {
  readonly result: TestResult;
  readonly report: BindingReport;
  readonly isExpected: boolean;
}

/** Returns the tests that failed, musts first. */
export function listFindings({ reports, expected }: JudgedRun): readonly Finding[] {
  const findings = reports.flatMap((report) =>
    report.results.flatMap((result): readonly Finding[] => {
      if (result.outcome !== "failed") return [];
      const one = { ...report, results: [result] };
      return [{ result, report, isExpected: findUnexpected(one, expected).length === 0 }];
    }),
  );
  const rank = ({ result }: Finding): number => LEVELS.indexOf(result.test.level);
  return findings.toSorted((one, other) => rank(one) - rank(other));
}

/**
 * Returns why a run is no success: failures of level must without an expectation, wrong expectations, and bindings of
 * which no test has a result.
 */
export function listProblems({ reports, expected }: JudgedRun): readonly string[] {
  return reports.flatMap((report) => {
    if (report.results.every(({ outcome }) => outcome === "not verified"))
      return [
        `Nothing of ${formatBinding(report)} is verified: ${report.results[0]?.reason ?? "no test ran"}`,
      ];
    const judged = report.results.filter(({ test, outcome }) => {
      const entry = expected.find(
        ({ test: id, bindings }) => id === test.id && bindings.includes(report.binding),
      );
      return entry !== undefined || (outcome === "failed" && test.level === "must");
    });
    return findUnexpected({ ...report, results: judged }, expected);
  });
}

export function formatBinding({ binding, version }: Omit<BindingReport, "results">): string {
  return version === undefined ? binding : `${binding} ${version}`;
}

function formatRule({ test }: TestResult): string {
  return `${test.name}${test.spec_ref === undefined ? "" : ` (${test.spec_ref.replace("docs/specification.md", "A2A ")})`}`;
}

/** Renders the run as Markdown. */
export function renderMarkdown(run: JudgedRun): string {
  const lines = [
    `# A2A conformance of ${run.url}`,
    "",
    "| Binding | Level | Passed | Failed | Not verified |",
    "|---|---|---|---|---|",
  ];
  for (const report of run.reports)
    for (const level of LEVELS) {
      const { passed, failed, notVerified } = count(report.results, level);
      lines.push(`| ${formatBinding(report)} | ${level} | ${passed} | ${failed} | ${notVerified} |`);
    }
  lines.push("", "A test that is not verified proves nothing.");
  for (const { results } of run.reports)
    if (results[0]?.test.suite.id === "resilience")
      lines.push(
        "",
        "| Check | Result | Seen |",
        "|---|---|---|",
        ...results.map(
          ({ test, outcome, reason = test.name }) =>
            `| ${test.id} | ${outcome} | \`${replaceControlCharacters(reason).replaceAll("`", "'").replaceAll("|", "¦")}\` |`,
        ),
      );
  for (const { result, report, isExpected } of listFindings(run)) {
    const { test, reason = "", exchanges = [] } = result;
    lines.push(
      "",
      `## ${test.id} on ${formatBinding(report)} (${test.level}${isExpected ? ", expected" : ""})`,
    );
    // The agent chooses these texts. An indented block shows them as they are.
    const block = [reason, ...exchanges].map(
      (text) => `    ${replaceControlCharacters(text).replaceAll("\n", " ")}`,
    );
    lines.push("", formatRule(result), "", ...block);
    if (test.hint !== undefined) lines.push("", `Hint: ${test.hint}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Renders the findings in SARIF 2.1.0, which code hosts show. */
export function renderSarif(run: JudgedRun, toolVersion: string): string {
  const findings = listFindings(run);
  const rules = new Map(findings.map(({ result }) => [result.test.id, result]));
  return JSON.stringify(
    {
      $schema: "https://json.schemastore.org/sarif-2.1.0.json",
      version: "2.1.0",
      runs: [
        {
          tool: {
            driver: {
              name: "colloquy conformance",
              version: toolVersion,
              rules: [...rules].map(([id, result]) => ({
                id,
                shortDescription: { text: formatRule(result) },
                ...(result.test.hint === undefined ? {} : { help: { text: result.test.hint } }),
              })),
            },
          },
          results: findings.map(({ result: { test, reason = "", exchanges = [] }, report, isExpected }) => ({
            ruleId: test.id,
            level: test.level === "must" ? "error" : test.level === "should" ? "warning" : "note",
            message: { text: [`${formatBinding(report)}: ${reason}`, ...exchanges].join("\n") },
            locations: [{ physicalLocation: { artifactLocation: { uri: run.url } } }],
            ...(isExpected ? { suppressions: [{ kind: "external" }] } : {}),
          })),
        },
      ],
    },
    undefined,
    2,
  );
}

/** Renders a badge for a README as SVG. */
export function renderBadge(run: JudgedRun): string {
  const results = run.reports.flatMap((report) => report.results);
  const { passed, failed, notVerified } = count(results, "must");
  const text = failed > 0 ? `${failed} must failed` : `${passed} must passed, ${notVerified} not verified`;
  const color = listProblems(run).length > 0 ? "#c0392b" : "#2e7d32";
  const [left, right] = [40, text.length * 6.5 + 16];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="A2A: ${text}">
<rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="${color}"/>
<g fill="#fff" font-family="Verdana,sans-serif" font-size="11" text-anchor="middle">
<text x="${left / 2}" y="14">A2A</text><text x="${left + right / 2}" y="14">${text}</text></g></svg>
`;
}
