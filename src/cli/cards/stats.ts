import { Command } from "commander";
import { buildRunReport } from "../../cards/index.ts";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter } from "../output-writer.ts";
import { ExitCodeError } from "../exit-code-error.ts";
import {
  addCardsCommandOptions,
  type CardsCommandOptions,
  createTariffOption,
  type TariffOptions,
} from "./cards-command-options.ts";
import { readRun } from "./read-runs.ts";
import { renderRunStats } from "./render-run-stats.ts";

export function createCardsStatsCommand(context: CliContext): Command {
  return addCardsCommandOptions(new Command("stats"))
    .addOption(createTariffOption())
    .action(async (files: string[], { run, output, tariff }: CardsCommandOptions & TariffOptions) => {
      const { name, recording } = await readRun(files, run, context.stdin);
      const report = buildRunReport(recording, tariff ? { tariff } : {});
      if (output === "json") new OutputWriter(context.streams, output).writeJson(report);
      else context.streams.out(renderRunStats(report, name));
      if (report.broken.length > 0) throw new ExitCodeError(1);
    });
}
