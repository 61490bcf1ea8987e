/** The suites, with the title of their columns. */
export const SUITES = {
  stores: "Task stores",
  server: "Server",
  client: "Client and server over sockets",
  resilience: "Cut and resumed streams",
  tutorial: "Tutorial",
} as const;

export type SuiteName = keyof typeof SUITES;

/** The outcome of one suite on one runtime. */
export interface SuiteOutcome {
  readonly runtime: string;
  readonly version: string;
  readonly suite: SuiteName;
  readonly passed: number;
  /** Names of the failed tests. */
  readonly failed: readonly string[];
}

const BEGIN = "<!-- written by npm run runtimes -->";
const END = "<!-- end of the written part -->";

/** Replaces the rows of the outcomes in the table between the marks of a page. Keeps the rows of other runtimes. */
export function renderRuntimeTable(page: string, outcomes: readonly SuiteOutcome[]): string {
  const start = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (start < 0 || end < start) throw new Error(`The page has no lines ${BEGIN} and ${END}; add them.`);
  const runtimes = outcomes.map(({ runtime }) => runtime);
  const keptRows = page
    .slice(start, end)
    .split("\n")
    .filter(
      (line) => /^\| .+ \(\S+\) \|/.test(line) && !runtimes.some((name) => line.startsWith(`| ${name} (`)),
    );
  const table = [formatTable(outcomes), ...keptRows].join("\n");
  return `${page.slice(0, start)}${BEGIN}\n\n${table}\n\n${page.slice(end)}`;
}

function formatTable(outcomes: readonly SuiteOutcome[]): string {
  const suites = Object.keys(SUITES) as SuiteName[];
  const rows = [...new Set(outcomes.map(({ runtime }) => runtime))].map((runtime) => {
    const own = outcomes.filter((outcome) => outcome.runtime === runtime);
    const cells = suites.map((suite) => formatOutcome(own.find((outcome) => outcome.suite === suite)));
    return [`${runtime} (${own[0]?.version})`, ...cells];
  });
  const header = ["Runtime", ...Object.values(SUITES)];
  return [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function formatOutcome(outcome: SuiteOutcome | undefined): string {
  if (!outcome) return "not run";
  const { passed, failed } = outcome;
  return failed.length === 0 ? `${passed} passed` : `${passed} passed, ${failed.length} failed`;
}
