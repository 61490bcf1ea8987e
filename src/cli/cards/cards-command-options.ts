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
  const prices = parseNumbersByName(text, ["input", "cached", "output"], "input=3,cached=0.3,output=15");
  const { input, output } = prices;
  if (input === undefined || output === undefined)
    throw new InvalidArgumentError("Set a price for input and one for output.");
  return { ...prices, input, output };
}

/** Parses a list of words, separated by commas. */
export function parseList(text: string): string[] {
  const words = text.split(",").map((word) => word.trim());
  if (words.includes("")) throw new InvalidArgumentError("Separate the names with commas.");
  return words;
}

/** Parses a list of names with numbers. `form` is an example of such a list. */
export function parseNumbersByName<Name extends string>(
  text: string,
  names: readonly Name[],
  form: string,
): Partial<Record<Name, number>> {
  const pairs = text.split(",").map((pair) => pair.split("=").map((word) => word.trim()));
  for (const [name, value = ""] of pairs)
    if (!names.some((known) => known === name) || !/^\d{1,15}(?:\.\d+)?$/.test(value))
      throw new InvalidArgumentError(`Use the form ${form}.`);
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)])) as Partial<
    Record<Name, number>
  >;
}
