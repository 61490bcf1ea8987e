import { Command } from "commander";
import { cardsOf, figuresOf, samplesOf } from "../../cards/index.ts";
import type { Context } from "../context.ts";
import { Output } from "../output.ts";
import { addCardsOptions, type CardsOptions } from "./options.ts";
import { readRun } from "./read.ts";

export function cardsStatsCommand(context: Context): Command {
  return addCardsOptions(new Command("stats")).action(async (files: string[], options: CardsOptions) => {
    const { recording } = await readRun(files, options.run);
    const ids = samplesOf(recording).flatMap(({ id }) => id ?? []);
    new Output(context.streams, options.output).document(figuresOf(cardsOf(recording), ids));
  });
}
