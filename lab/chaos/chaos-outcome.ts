import type { ChaosFault, FigureName } from "./chaos-fault.ts";

/** The measured result of one fault on one system. */
export interface ChaosOutcome {
  readonly system: string;
  /** Name of the file in `faults/`, without the extension. */
  readonly name: string;
  readonly title: string;
  readonly promise: string;
  readonly figures: Readonly<Record<FigureName, number>>;
  readonly problems: readonly string[];
  /** Figures above their bars. */
  readonly exceededBars: readonly string[];
  readonly seconds: number;
  /** Load average of the machine over the last minute, at the start and at the end. */
  readonly loadAverages: readonly [number, number];
}

export function holdsPromise({ problems, exceededBars }: ChaosOutcome): boolean {
  return problems.length === 0 && exceededBars.length === 0;
}

/** Returns a text for each figure that is above its bar, or that is missing. */
export function findExceededBars(
  figures: Readonly<Record<FigureName, number>>,
  { bars = {} }: Pick<ChaosFault, "bars">,
): string[] {
  return Object.entries(bars)
    .filter(([name, bar]) => !((figures[name] ?? NaN) <= bar))
    .map(([name, bar]) => `${name} is ${formatFigure(figures[name] ?? NaN)}, and the bar is ${bar}`);
}

/** Renders an outcome as lines of the report. */
export function renderChaosOutcome(outcome: ChaosOutcome): string {
  const { system, name, title, seconds, loadAverages } = outcome;
  const failures = [...outcome.exceededBars, ...outcome.problems];
  return [
    `${holdsPromise(outcome) ? "ok    " : "FAILED"} ${name} (${system}): ${title}`,
    `       ${renderFigures(outcome.figures)}`,
    `       ${formatFigure(seconds)} s, load average ${loadAverages.map(formatFigure).join(" → ")}`,
    ...failures.slice(0, 10).map((line) => `       ! ${line}`),
    ...(failures.length > 10 ? [`       ! and ${failures.length - 10} more`] : []),
  ].join("\n");
}

/** Renders outcomes as a Markdown table, with one row for each fault and one column for each system. */
export function renderChaosTable(outcomes: readonly ChaosOutcome[]): string {
  const systems = [...new Set(outcomes.map(({ system }) => system))];
  const rows = Object.values(Object.groupBy(outcomes, ({ name }) => name)).map((group = []) => {
    const cells = systems.map((system) => {
      const outcome = group.find((candidate) => candidate.system === system);
      if (!outcome) return "";
      return `${holdsPromise(outcome) ? "" : "**does not hold:** "}${renderFigures(outcome.figures)}`;
    });
    return [`\`${group[0]?.name}\``, group[0]?.title, group[0]?.promise, ...cells];
  });
  const header = ["fault", "action", "promise", ...systems];
  return [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function renderFigures(figures: Readonly<Record<FigureName, number>>): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${formatFigure(value)}`)
    .join(", ");
}

function formatFigure(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 1 : 0 });
}
