import { InvalidArgumentError, Option, type Command } from "commander";
import type { TokenTariff } from "../../cards/index.ts";
import { createOutputOption } from "../client-options.ts";
import type { OutputFormat } from "../output-writer.ts";

/** Options shared by all commands that read a recorded experiment run. */
export interface RunSelectionOptions {
  run?: string;
}

/** Options shared by all commands that print text by default and a JSON document with `--json`. */
export interface OutputFormatOptions {
  output: OutputFormat;
  json?: boolean;
}

export type CardsCommandOptions = RunSelectionOptions & OutputFormatOptions;

/** Adds the arguments for the recording files and the option that selects an experiment run. */
export function addRunFilesArgument(command: Command): Command {
  return command
    .argument(
      "<files...>",
      "recordings (.cards.jsonl), merged if they are of one run; or lists of message cards (.json); - for stdin",
    )
    .addOption(new Option("--run <id>", "id of the run, if a file has several"));
}

export function addOutputFormatOptions(command: Command): Command {
  return command
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .addOption(new Option("--json", "the same as -o json").implies({ output: "json" }));
}

/** Adds the options of a command that reads and reports an experiment run. */
export function addCardsCommandOptions(command: Command): Command {
  return addOutputFormatOptions(addRunFilesArgument(command));
}

export interface TariffOptions {
  tariff?: TokenTariff;
}

export function createTariffOption(): Option {
  return new Option(
    "--tariff <prices>",
    "prices per million tokens, for example input=3,cached=0.3,output=15",
  ).argParser(parseTariff);
}

function parseTariff(text: string): TokenTariff {
  const prices = new Map(
    text.split(",").map((part) => {
      const [name = "", price = ""] = part.split("=");
      if (!["input", "cached", "output"].includes(name.trim()) || !/^\d+(\.\d+)?$/.test(price.trim()))
        throw new InvalidArgumentError("Use the form input=3,cached=0.3,output=15.");
      return [name.trim(), Number(price)];
    }),
  );
  const [input, output, cached] = [prices.get("input"), prices.get("output"), prices.get("cached")];
  if (input === undefined || output === undefined)
    throw new InvalidArgumentError("Set a price for input and one for output.");
  return { input, output, ...(cached !== undefined && { cached }) };
}
