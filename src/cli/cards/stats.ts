import { Command } from "commander";
import { reportOf } from "../../cards/index.ts";
import type { Context } from "../context.ts";
import { Output } from "../output.ts";
import { Verdict } from "../verdict.ts";
import { addCardsOptions, type CardsOptions, tariffOption, type TariffOptions } from "./options.ts";
import { readRun } from "./read.ts";
import { statsText } from "./stats-text.ts";

export function cardsStatsCommand(context: Context): Command {
  return addCardsOptions(new Command("stats"))
    .addOption(tariffOption())
    .action(async (files: string[], { run, output, tariff }: CardsOptions & TariffOptions) => {
      const { name, recording } = await readRun(files, run, context.stdin);
      const report = reportOf(recording, tariff ? { tariff } : {});
      if (output === "json") new Output(context.streams, output).document(report);
      else context.streams.out(statsText(report, name));
      if (report.broken.length > 0) throw new Verdict(1);
    });
}
