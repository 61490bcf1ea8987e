/** Format of a number in a table. */
export type NumberFormatName = "rate" | "ratio" | "ms" | "ms2" | "us" | "kb" | "count" | "percent";

export interface ReportColumn {
  readonly key: string;
  readonly title: string;
  readonly format: NumberFormatName;
}

/** A performance target and its result. */
export interface PerformanceTarget {
  readonly text: string;
  readonly got: number;
  /**
   * Whether the target is met. `undefined` means that the measured value is a bound that does not decide it.
   */
  readonly met: boolean | undefined;
}

export interface ReportRow {
  readonly subject: string;
  readonly cells: Readonly<Record<string, number | undefined>>;
  /** Cells that are bounds, with their sign. A stream that was stopped has run at least that long. */
  readonly bounds?: Readonly<Record<string, "<" | ">">>;
  readonly targets: readonly PerformanceTarget[];
  /** Number of responses that were decoded completely. */
  readonly checked: number;
  /** Problems of the responses. For `FAULTS_FAIL_BENCHMARK_SYSTEM_PATTERN`, they fail the benchmark. */
  readonly faults: readonly string[];
}

export interface ReportTable {
  readonly workload: string;
  readonly title: string;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly ReportRow[];
}

const NUMBER_FORMATTERS: Record<NumberFormatName, (value: number) => string> = {
  rate: (value) => Math.round(value).toLocaleString("en-US"),
  ratio: (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)),
  ms: (value) => (value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toFixed(1)),
  ms2: (value) => value.toFixed(2),
  us: (value) => Math.round(value).toLocaleString("en-US"),
  kb: (value) => value.toFixed(1),
  count: (value) => value.toLocaleString("en-US", { maximumFractionDigits: 0 }),
  percent: (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)} %`,
};

/** Renders a table as text. */
export function renderTable({ title, columns, rows }: ReportTable): string {
  const head = ["", ...columns.map((column) => column.title), ""];
  const body = rows.map((row) => [
    row.subject,
    ...columns.map(({ key, format }) => {
      const value = row.cells[key];
      return value === undefined || Number.isNaN(value)
        ? ""
        : (row.bounds?.[key] ?? "") + NUMBER_FORMATTERS[format](value);
    }),
    [...row.targets.map(renderTarget), ...renderResponseFaults(row)].join(", "),
  ]);
  const widths = head.map((_, at) => Math.max(...[head, ...body].map((line) => line[at]?.length ?? 0)));
  const render = (line: readonly string[]): string =>
    line
      .map((cell, at) =>
        at === 0 || at === line.length - 1 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return [title, render(head), ...body.map(render)].join("\n");
}

function renderTarget({ text, met }: PerformanceTarget): string {
  return `${met === undefined ? "open" : met ? "pass" : "MISS"} ${text}`;
}

function renderResponseFaults({ checked, faults }: ReportRow): string[] {
  const [first] = faults;
  return first ? [`WRONG in ${faults.length} of ${checked}: ${first}`] : [];
}

/** Limits of the cells of a row by the key of the column. */
export type TargetLimits = Readonly<Record<string, { readonly min?: number; readonly max?: number }>>;

/** Compares the cells of a row with their limits. The limit of a cell that is a bound may stay undecided. */
export function createTargets(
  limits: TargetLimits = {},
  cells: ReportRow["cells"],
  columns: readonly ReportColumn[],
  bounds: ReportRow["bounds"] = {},
): PerformanceTarget[] {
  return Object.entries(limits).map(([key, { min, max }]) => {
    const { title } = columns.find((column) => column.key === key)!;
    const got = cells[key] ?? Number.NaN;
    if (max !== undefined) return createMaximumTarget(max, got, title);
    const isMet = got >= min!;
    return { text: `${title} ≥ ${min}`, got, met: isMet || (bounds[key] === ">" ? undefined : false) };
  });
}

/** Creates a target with a maximum. */
export function createMaximumTarget(limit: number, measured: number, label: string): PerformanceTarget {
  return { text: `${label} ≤ ${limit}`, got: measured, met: measured <= limit };
}

/** Creates a row of a table whose figures are not responses. */
export function createRow(
  subject: string,
  cells: ReportRow["cells"],
  targets: ReportRow["targets"] = [],
): ReportRow {
  return { subject, cells, targets, checked: 0, faults: [] };
}
