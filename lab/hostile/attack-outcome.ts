import type { AttackBars } from "./attack.ts";

/** The measured result of one attack. */
export interface AttackOutcome {
  /** Name of the file in `attacks/`, without the extension. */
  readonly name: string;
  readonly title: string;
  /** Measured values by name, each with its unit in the name. */
  readonly figures: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
  readonly exceededBars: readonly ExceededBar[];
}

/** A bar that an attack exceeded. */
export interface ExceededBar {
  readonly bar: keyof AttackBars;
  readonly value: number;
  readonly maximum: number;
}

export function isDefended({ problems, exceededBars }: AttackOutcome): boolean {
  return problems.length === 0 && exceededBars.length === 0;
}

/**
 * Returns whether an attack failed only because a time exceeded its bar by less than a factor of 4. Such a result can be
 * noise of the machine, so the runner repeats the attack. Memory and problems are never noise.
 */
export function isCloseMiss({ problems, exceededBars }: AttackOutcome): boolean {
  return (
    problems.length === 0 &&
    exceededBars.length > 0 &&
    exceededBars.every(({ bar, value, maximum }) => bar !== "rssGrowthMiB" && value < 4 * maximum)
  );
}

/** Renders the result of an attack as lines of the report. */
export function renderAttackOutcome(outcome: AttackOutcome): string {
  const figures = Object.entries(outcome.figures).map(([name, value]) => `${name} ${formatFigure(value)}`);
  const failures = [
    ...outcome.exceededBars.map(
      ({ bar, value, maximum }) => `${bar} is ${formatFigure(value)}, and the bar is ${maximum}`,
    ),
    ...outcome.problems,
  ];
  return [
    `${isDefended(outcome) ? "ok    " : "FAILED"} ${outcome.name}: ${outcome.title}`,
    `       ${figures.join(", ")}`,
    ...failures.slice(0, 10).map((line) => `       ! ${line}`),
    ...(failures.length > 10 ? [`       ! and ${failures.length - 10} more`] : []),
  ].join("\n");
}

function formatFigure(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 1 : 0 });
}
