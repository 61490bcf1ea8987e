import type { Command, Option } from "commander";

/** A candidate for the next word, with its description. */
export interface CompletionWord {
  readonly word: string;
  readonly description: string;
}

/** A command in the tree of commands, with all words that can follow it. */
export interface CompletionLevel {
  /** The words that lead to the command, for example `task get`. Empty for the program. */
  readonly commandPath: string;
  /** Subcommands, and the values of arguments with a fixed set of values. */
  readonly commands: readonly CompletionWord[];
  readonly options: readonly (CompletionWord & {
    readonly long: string;
    readonly short?: string;
    readonly takesValue: boolean;
    /** The allowed values, if the option has a fixed set of values. */
    readonly values: readonly string[];
  })[];
}

/** Returns the completion level of a command and of all its subcommands. */
export function collectCompletionLevels(command: Command, path = ""): CompletionLevel[] {
  const help = command.createHelp();
  const level: CompletionLevel = {
    commandPath: path,
    commands: [
      ...command.commands.map((child) => ({ word: child.name(), description: child.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
        argChoices.map((word) => ({ word, description })),
      ),
    ],
    options: help.visibleOptions(command).map(toOptionWord),
  };
  const children = command.commands.flatMap((child) =>
    collectCompletionLevels(child, path === "" ? child.name() : `${path} ${child.name()}`),
  );
  return [level, ...children];
}

function toOptionWord(option: Option): CompletionLevel["options"][number] {
  const { long, short, description, required, optional, argChoices = [] } = option;
  return {
    word: long ?? short ?? "",
    long: long ?? "",
    ...(short ? { short } : {}),
    description,
    takesValue: required || optional,
    values: argChoices,
  };
}
