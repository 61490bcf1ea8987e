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

const SUITE_NAMES = Object.keys(SUITES) as SuiteName[];
const NOT_RUN = "not run";
const BEGIN = "<!-- written by npm run lab -- runtimes -->";
const END = "<!-- end of the written part -->";

/**
 * Replaces the cells of the outcomes in the table between the marks of a page. Keeps the rows of other runtimes, and the
 * cells of other suites on the same version.
 */
export function renderRuntimeTable(page: string, outcomes: readonly SuiteOutcome[]): string {
  const start = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (start < 0 || end < start) throw new Error(`The page has no lines ${BEGIN} and ${END}; add them.`);
  const rows = new Map(parseRows(page.slice(start, end)));
  for (const runtime of new Set(outcomes.map((outcome) => outcome.runtime))) {
    const own = outcomes.filter((outcome) => outcome.runtime === runtime);
    const title = `${runtime} (${own[0]?.version})`;
    const earlierTitle = [...rows.keys()].find((one) => one.startsWith(`${runtime} (`));
    const earlierCells = earlierTitle === title ? rows.get(title) : undefined;
    const cells = SUITE_NAMES.map((suite, column) => {
      const outcome = own.find((one) => one.suite === suite);
      return outcome ? formatOutcome(outcome) : (earlierCells?.[column] ?? NOT_RUN);
    });
    if (earlierTitle !== undefined && earlierTitle !== title) rows.delete(earlierTitle);
    rows.set(title, cells);
  }
  return `${page.slice(0, start)}${BEGIN}\n\n${formatTable(rows)}\n\n${page.slice(end)}`;
}

/** Parses the rows of the runtimes, which have a version in parentheses. */
function parseRows(table: string): [string, string[]][] {
  const rows = table.split("\n").filter((line) => /^\| .+ \(\S+\) \|/.test(line));
  return rows.map((row) => {
    const [title = "", ...cells] = row.slice(2, -2).split(" | ");
    return [title, cells];
  });
}

function formatTable(rows: ReadonlyMap<string, readonly string[]>): string {
  const header = ["Runtime", ...Object.values(SUITES)];
  const sorted = [...rows].toSorted(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  const lines = [header, header.map(() => "---"), ...sorted.map(([title, cells]) => [title, ...cells])];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function formatOutcome({ passed, failed }: SuiteOutcome): string {
  return failed.length === 0 ? `${passed} passed` : `${passed} passed, ${failed.length} failed`;
}
