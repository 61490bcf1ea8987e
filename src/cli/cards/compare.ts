import { Command } from "commander";
import { type BaselineComparison, type ComparisonReport, buildComparisonReport } from "../../cards/index.ts";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter } from "../output-writer.ts";
import { createUsageError } from "../cli-error.ts";
import { escapeControlCharacters } from "../terminal-streams.ts";
import {
  addCardsCommandOptions,
  type CardsCommandOptions,
  createTariffOption,
  readRuns,
} from "./read-runs.ts";
import {
  formatNumber,
  formatOutcomes,
  formatPercent,
  formatPercentWithInterval,
  pluralize,
  renderNoAnswersHint,
  renderTable,
} from "./text-table.ts";

export function createCardsCompareCommand(context: CliContext): Command {
  return addCardsCommandOptions(new Command("compare"))
    .addOption(createTariffOption())
    .action(async (files: string[], { run, output, tariff }: CardsCommandOptions) => {
      const runs = await readRuns(files, run, context.stdin);
      if (runs.length < 2)
        throw createUsageError(
          "A comparison requires at least two runs.",
          "Use colloquy cards stats for a single run.",
        );
      const cardList = runs.find(({ recording }) => !recording.run);
      if (cardList)
        throw createUsageError(
          `${cardList.name} contains only message cards. The problems and the correct answers of the run are missing.`,
          "Pass the recording of the run (.cards.jsonl).",
        );
      const report = buildComparisonReport(
        runs.map(({ recording }) => recording),
        tariff ? { tariff } : {},
      );
      if (output === "json") new OutputWriter(context.streams, output).writeJson(report);
      else context.streams.out(renderRunComparison(report));
    });
}

/**
 * Renders a comparison of experiment runs as text. The first run in a comparison is the baseline for all
 * other runs.
 */
export function renderRunComparison(report: ComparisonReport): string {
  const { dataset, evidence, rule, samples, skipped, rows, budgets, repeated } = report;
  const [first] = rows;
  const measures = Object.keys(first?.measures ?? {});
  const hasPrice = rows.some(({ price }) => price !== undefined);
  const body = rows.map((row) => {
    const { tokens, against, turns, price } = row;
    const atLeast = row.unknownCards > 0 ? "≥ " : "";
    const formatTokens = (count: number | undefined): string =>
      count === undefined ? "–" : `${atLeast}${formatNumber(count)}`;
    return [
      row.name,
      formatPercentWithInterval(row.accuracy),
      `${row.completed}/${samples}`,
      ...measures.map((measure) => formatPercent(row.measures[measure])),
      tokens
        ? `${formatTokens(tokens.input)}/${formatNumber(tokens.output)}${row.estimated ? " est." : ""}`
        : "–",
      against ? formatNumber(against.tokenRatio, 2) : "1.00",
      formatNumber(turns, 1),
      formatTokens(row.tokensPerCompleted),
      formatTokens(row.tokensPerCorrect),
      ...(hasPrice ? [`${atLeast}${formatNumber(price, 5)}`] : []),
      against ? formatAccuracyDifference(against) : "–",
      against ? formatPValue(against) : "–",
    ];
  });
  const head = [
    "method",
    "accuracy (95 %)",
    "answered",
    ...measures,
    "tokens in/out",
    `× ${first?.name ?? ""}`,
    "turns",
    "per answer",
    "per correct",
    ...(hasPrice ? ["price"] : []),
    "difference (95 %)",
    "p",
  ];
  const about = `${dataset}, ${samples} problems, evidence ${evidence}, scored by ${rule}; tokens${hasPrice ? " and price" : ""} of a problem, of an answer, and of a correct answer; each beside ${first?.name ?? ""}`;
  const notes = [
    ...(skipped > 0
      ? [`not compared: ${pluralize(skipped, "problem")}, which a run skipped because of an error`]
      : []),
    ...rows.flatMap(({ name, outcomes, completed, unknownCards }) => [
      `${name}: ${formatOutcomes(outcomes)}`,
      ...(completed === 0 ? [renderNoAnswersHint(name, outcomes)] : []),
      ...(unknownCards > 0
        ? [
            `${name}: all token figures are lower bounds: ${pluralize(unknownCards, "card")} with unknown tokens`,
          ]
        : []),
    ]),
  ];
  return (
    `${escapeControlCharacters(about.replaceAll(/\s+/g, " "))}\n` +
    renderTable([head, ...body], `l${"r".repeat(head.length)}`) +
    renderTable(notes.map((note) => [note])) +
    renderRepeatedRuns(repeated) +
    renderCoordination(rows) +
    renderTable(budgets.map((budget) => [renderEqualTokenBudgetComparison(budget)]))
  );
}

/** Renders the accuracy of runs that differ only in their seeds. */
function renderRepeatedRuns(repeated: ComparisonReport["repeated"]): string {
  if (repeated.length === 0) return "";
  const body = repeated.map(({ name, seeds, accuracy, difference }) => [
    name,
    String(seeds),
    formatPercentWithInterval(accuracy),
    difference ? formatAccuracyDifference({ difference }) : "–",
  ]);
  const head = ["all seeds", "runs", "accuracy (95 %)", "difference (95 %)"];
  return renderTable([head, ...body], "lrrr");
}

/** Renders what coordination costs and gains, if a run has message cards between roles. */
function renderCoordination(rows: ComparisonReport["rows"]): string {
  if (rows.every(({ coordination }) => coordination.messageDensity === 0)) return "";
  const head = [
    "coordination",
    "efficiency",
    "tokens +",
    "calls +",
    "errors ×",
    "redundancy",
    "cards per call",
  ];
  const body = rows.map(({ name, coordination }) => [
    name,
    formatNumber(coordination.efficiency, 2),
    formatPercent(coordination.tokenOverhead),
    formatPercent(coordination.callOverhead),
    formatNumber(coordination.errorAmplification, 2),
    formatNumber(coordination.redundancy, 2),
    formatNumber(coordination.messageDensity, 2),
  ]);
  const notes = rows
    .filter(({ coordination }) => coordination.messageDensity === undefined)
    .map(({ name }) => [
      `${name}: the number of calls is unknown, because another process records some of them`,
    ]);
  return renderTable([head, ...body], `l${"r".repeat(head.length - 1)}`) + renderTable(notes);
}

function renderEqualTokenBudgetComparison({
  name,
  tokens,
  other,
  otherTokens,
  against,
  missing,
}: ComparisonReport["budgets"][number]): string {
  const spent = `${name} (${formatNumber(tokens)} tokens a problem)`;
  if (against)
    return `at equal tokens: ${spent} beside ${other} (${formatNumber(otherTokens)}): ${formatAccuracyDifference(against)}, p ${formatPValue(against)}`;
  const nearest = `the nearest is ${other} with ${formatNumber(otherTokens)}`;
  return missing === undefined
    ? `at equal tokens: none for ${spent}; ${nearest}`
    : `at equal tokens: none for ${spent}; ${nearest}. To do: run ${missing}, too`;
}

/** Formats a difference with its confidence interval, for example `+1.5 points (-0.5 to 3.5)`. */
function formatAccuracyDifference({
  difference: { value, low, high },
}: Pick<BaselineComparison, "difference">): string {
  return `${formatSignedPoints(value)} points (${formatSignedPoints(low)} to ${formatSignedPoints(high)})`;
}

function formatSignedPoints(share: number): string {
  return `${share > 0 ? "+" : ""}${(share * 100).toFixed(1)}`;
}

function formatPValue({ p: { exact } }: BaselineComparison): string {
  return exact < 0.001 ? "<0.001" : exact.toFixed(3);
}
