import { Option, type Command } from "commander";
import { outputOption } from "../options.ts";
import type { Format } from "../output.ts";

/** The options of every command that reads a run. */
export interface CardsOptions {
  output: Format;
  json?: boolean;
  run?: string;
}

/** Adds them, and the files. */
export function addCardsOptions(command: Command): Command {
  return command
    .argument(
      "<files...>",
      "records (.cards.jsonl); several of one run are joined; or lists of cards (.json)",
    )
    .addOption(new Option("--run <id>", "the run, where a file has several"))
    .addOption(outputOption())
    .addOption(new Option("--json", "the same as -o json").implies({ output: "json" }));
}
