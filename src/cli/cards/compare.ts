import { Command } from "commander";
import { type Against, type ComparisonReport, comparisonOf } from "../../cards/index.ts";
import type { Context } from "../context.ts";
import { Output } from "../output.ts";
import { Problem } from "../problem.ts";
import { printable } from "../text.ts";
import { addCardsOptions, type CardsOptions, tariffOption, type TariffOptions } from "./options.ts";
import { readRuns } from "./read.ts";
import { number, percent, shareOf, table } from "./table.ts";

export function cardsCompareCommand(context: Context): Command {
  return addCardsOptions(new Command("compare"))
    .addOption(tariffOption())
    .action(async (files: string[], { run, output, tariff }: CardsOptions & TariffOptions) => {
      const runs = await readRuns(files, run, context.stdin);
      if (runs.length < 2)
        throw new Problem(
          "A2ACLI_ERR_USAGE",
          "Name the files of two runs or more.",
          "colloquy cards stats is for one.",
        );
      const bare = runs.find(({ recording }) => !recording.run);
      if (bare)
        throw new Problem(
          "A2ACLI_ERR_USAGE",
          `${bare.name} has cards, and no record of a run: which problems there were, and which answers are right.`,
          "Name the file that the run was recorded in (.cards.jsonl).",
        );
      const report = comparisonOf(
        runs.map(({ recording }) => recording),
        tariff ? { tariff } : {},
      );
      if (output === "json") new Output(context.streams, output).document(report);
      else context.streams.out(compareText(report));
    });
}

/** A comparison as text. The first row is what the others are beside. */
export function compareText({ dataset, evidence, rule, samples, rows, budgets }: ComparisonReport): string {
  const [first] = rows;
  const measures = Object.keys(first?.measures ?? {});
  const hasPrice = rows.some(({ price }) => price !== undefined);
  const body = rows.map(
    ({ name, accuracy, measures: of, tokens, estimated, turns, price, perThousand, against }) => [
      name,
      shareOf(accuracy),
      ...measures.map((measure) => percent(of[measure])),
      tokens ? `${number(tokens.input)}/${number(tokens.output)}${estimated ? " est." : ""}` : "–",
      against?.tokenRatio ? number(against.tokenRatio.value, 2) : against ? "–" : "1.00",
      number(turns, 1),
      number(perThousand, 2),
      ...(hasPrice ? [number(price, 5)] : []),
      against ? points(against) : "–",
      against ? probability(against) : "–",
    ],
  );
  const head = [
    "method",
    "accuracy (95 %)",
    ...measures,
    "tokens in/out",
    `× ${first?.name ?? ""}`,
    "turns",
    "per 1K",
    ...(hasPrice ? ["price"] : []),
    "difference (95 %)",
    "p",
  ];
  const about = `${dataset}, ${samples} problems, evidence ${evidence}, scored by ${rule}; tokens${hasPrice ? " and price" : ""} of a problem; each beside ${first?.name ?? ""}`;
  return (
    `${printable(about.replaceAll(/\s+/g, " "))}\n` +
    table([head, ...body], `l${"r".repeat(head.length)}`) +
    table(budgets.map((budget) => [budgetText(budget)]))
  );
}

function budgetText({
  name,
  tokens,
  other,
  otherTokens,
  against,
  missing,
}: ComparisonReport["budgets"][number]): string {
  const spent = `${name} (${number(tokens)} tokens a problem)`;
  if (against)
    return `at equal tokens: ${spent} beside ${other ?? ""} (${number(otherTokens)}): ${points(against)}, p ${probability(against)}`;
  const nearest = `the nearest is ${other ?? ""} with ${number(otherTokens)}`;
  return missing === undefined
    ? `at equal tokens: none for ${spent}; ${nearest}, and fewer votes than one there are not`
    : `at equal tokens: none for ${spent}; ${nearest}. To do: run ${missing}, too`;
}

/** `+1.5 points (-0.5 to 3.5)` */
function points({ difference: { value, low, high } }: Against): string {
  return `${signed(value)} points (${signed(low)} to ${signed(high)})`;
}

function signed(share: number): string {
  return `${share > 0 ? "+" : ""}${(share * 100).toFixed(1)}`;
}

function probability({ p: { exact } }: Against): string {
  return exact < 0.001 ? "<0.001" : exact.toFixed(3);
}
