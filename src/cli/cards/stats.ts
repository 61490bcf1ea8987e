import { Command } from "commander";
import { buildRunReport, RUN_FINDING_KINDS, type RunFindingKind, type RunReport } from "../../cards/index.ts";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter } from "../output-writer.ts";
import { ExitCodeError } from "../exit-code-error.ts";
import {
  addCardsCommandOptions,
  type CardsCommandOptions,
  createTariffOption,
  readRun,
} from "./read-runs.ts";
import {
  pluralize,
  formatDuration,
  formatNumber,
  formatOutcomes,
  formatPercent,
  formatPercentWithInterval,
  renderTable,
} from "./text-table.ts";

export function createCardsStatsCommand(context: CliContext): Command {
  return addCardsCommandOptions(new Command("stats"))
    .addOption(createTariffOption())
    .action(async (files: string[], { run, output, tariff }: CardsCommandOptions) => {
      const { name, recording } = await readRun(files, run, context.stdin);
      const report = buildRunReport(recording, tariff ? { tariff } : {});
      if (output === "json") new OutputWriter(context.streams, output).writeJson(report);
      else context.streams.out(renderRunStats(report, name));
      if (report.broken.length > 0) throw new ExitCodeError(1);
    });
}

/**
 * Maximum number of rows in a list of the text report. With `--json`, the command prints all rows of a list.
 */
const MAX_REPORT_LIST_ROWS = 8;

/** Renders a run report as blocks of text. The report omits empty blocks. */
export function renderRunStats(report: RunReport, name: string): string {
  const blocks = [
    renderRunHeading(report, name),
    renderRunAccuracyAndCounts(report),
    renderRunTokenStatistics(report),
    renderTimeStatistics(report),
    renderRunFindings(report),
    renderRecordingChecks(report),
  ];
  return blocks.filter((block) => block !== "").join("\n");
}

function renderRunHeading({ run, samples, ends }: RunReport, name: string): string {
  if (!run) return `${name}: ${pluralize(samples.total, "problem")}\n`;
  const words = [run.dataset, run.split, run.method, run.mode].filter((word) => word !== undefined);
  const models = Object.entries(run.model).map(([role, model]) => `${role} ${model}`);
  const open = samples.open > 0 ? `, ${samples.open} begun` : "";
  const skipped = samples.skipped > 0 ? `, ${samples.skipped} skipped because of an error` : "";
  return renderTable([
    [words.join(" "), `run ${run.run_id}, ${run.at}`],
    ["evidence", run.evidence],
    ["models", models.join(", ") || "–"],
    [
      "problems",
      `${samples.done} of ${samples.total} done${open}${skipped}; ${ends.at(-1) ?? "no end: killed, or still at it"}`,
    ],
  ]);
}

function renderRunAccuracyAndCounts({ accuracy, samples, run, measures, figures, seed }: RunReport): string {
  const rows: string[][] = [];
  if (accuracy) {
    const count = Math.round(accuracy.value * samples.done);
    rows.push([
      "accuracy",
      formatPercentWithInterval(accuracy),
      `${count} of ${samples.done} by ${run?.rule ?? "?"}${samples.failed > 0 ? `; ${pluralize(samples.failed, "problem")} wrong because of an error` : ""}`,
    ]);
  }
  if (samples.done > 0) rows.push(["outcomes", "", formatOutcomes(samples.outcomes)]);
  for (const [name, value] of Object.entries(measures)) rows.push([name, formatPercent(value)]);
  if (figures) {
    const { solverTasks, solverSuccess, completion, errorsByType } = figures;
    if (completion)
      rows.push(["completed", formatPercentWithInterval(completion), "problems with a result completed"]);
    rows.push([
      "solver succeeded",
      formatPercentWithInterval(solverSuccess),
      "of its replies to the planner, errors included",
    ]);
    if (solverTasks)
      rows.push([
        "solver tasks",
        formatNumber(solverTasks.mean, 2),
        `a problem; median ${formatNumber(solverTasks.median, 1)}, p95 ${formatNumber(solverTasks.p95, 1)}`,
      ]);
    rows.push(["cards", formatNumber(figures.cards), formatCountsByName(figures.byType)]);
    if (Object.keys(errorsByType).length > 0) rows.push(["errors", "", formatCountsByName(errorsByType)]);
  }
  if (seed)
    rows.push([
      "seed formulas",
      "",
      `turns ${formatNumber(seed.avg_turns, 2)}, solver success ${formatPercent(seed.solver_success_rate)}, completion ${formatPercent(seed.overall_completion_rate)}`,
    ]);
  return renderTable(rows);
}

function renderRunTokenStatistics({ tokens, spending }: RunReport): string {
  const { sum, perSample, estimatedShare = 0, price, unknownCards } = tokens;
  const total = sum.input + sum.output;
  const unknown = `${pluralize(unknownCards, "card")} with unknown tokens`;
  if (tokens.total === 0) return unknownCards > 0 ? `tokens: ${unknown}\n` : "";
  const atLeast = unknownCards > 0 ? "≥ " : "";
  const rows = (total > 0 ? spending : [])
    .filter(({ input, output, ms }) => input + output + ms > 0)
    .slice(0, MAX_REPORT_LIST_ROWS * 2)
    .map(({ role, turn, cards, input, output, cached, unknownCards, ms }) => [
      role,
      turn === undefined ? "" : String(turn),
      formatNumber(cards),
      (unknownCards > 0 ? "≥ " : "") + formatNumber(input),
      formatNumber(cached),
      (unknownCards > 0 ? "≥ " : "") + formatNumber(output),
      total > 0 ? formatPercent((input + output) / total) : "–",
      formatDuration(ms),
    ]);
  const notes = [
    unknownCards > 0 && `all token figures are lower bounds: ${unknown}`,
    tokens.total > total && `${formatNumber(tokens.total - total)} tokens on cards that tell only their sum`,
    perSample &&
      `${atLeast}${formatNumber(tokens.total)} tokens; a problem: mean ${formatNumber(perSample.mean)}, median ${formatNumber(perSample.median)}, p95 ${formatNumber(perSample.p95)} tokens`,
    sum.reasoning > 0 && `${formatNumber(sum.reasoning)} of the output tokens are reasoning`,
    estimatedShare > 0 && `${formatPercent(estimatedShare)} of the tokens are estimates`,
    price !== undefined && `price ${atLeast}${formatNumber(price, 4)} by the tariff`,
  ].filter((note) => typeof note === "string");
  const head = ["role", "turn", "cards", "input", "cached", "output", "share", "time"];
  const totalRow = [
    "all",
    "",
    "",
    `${atLeast}${formatNumber(sum.input)}`,
    formatNumber(sum.cached),
    `${atLeast}${formatNumber(sum.output)}`,
    "",
    "",
  ];
  return (
    (total > 0 ? renderTable([head, ...rows, totalRow], "lrrrrrrr") : "") +
    notes.map((note) => `${note}\n`).join("")
  );
}

function renderTimeStatistics({ time: { perSample } }: RunReport): string {
  if (!perSample) return "";
  return `time a problem: mean ${formatDuration(perSample.mean)}, median ${formatDuration(perSample.median)}, p95 ${formatDuration(perSample.p95)}\n`;
}

function renderRunFindings({ found, findings }: RunReport): string {
  return renderTable(
    Object.entries(found).map(([kind, count]) => {
      const sampleIds = new Set(findings.flatMap((one) => (one.kind === kind ? (one.sample_id ?? []) : [])));
      const first = [...sampleIds].slice(0, 3).join(", ") + (sampleIds.size > 3 ? " …" : "");
      return [String(count), RUN_FINDING_KINDS[kind as RunFindingKind], first];
    }),
    "rll",
  );
}

function renderRecordingChecks({ violations, broken, unknown, abandoned, torn }: RunReport): string {
  const lines: string[] = [];
  if (abandoned.cards + abandoned.calls > 0)
    lines.push(
      `not counted: ${pluralize(abandoned.cards, "card")} and ${pluralize(abandoned.calls, "call")} (${formatNumber(abandoned.tokens.input + abandoned.tokens.output)} tokens) of attempts that were interrupted`,
    );
  for (const { file, line, why } of torn.slice(0, MAX_REPORT_LIST_ROWS))
    lines.push(`torn line: ${file}:${line} (${why})`);
  for (const message of unknown) lines.push(`not known: ${message}`);
  for (const what of violations.slice(0, MAX_REPORT_LIST_ROWS)) lines.push(`violation: ${what}`);
  for (const what of broken) lines.push(`broken: ${what}`);
  return renderTable(lines.map((line) => [line]));
}

function formatCountsByName(record: Readonly<Record<string, number>>): string {
  return Object.entries(record)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
}
