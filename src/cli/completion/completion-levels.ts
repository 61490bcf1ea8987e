import type { Command, Option } from "commander";

/** A completion candidate for the next word, with a description. */
export interface CompletionWord {
  readonly word: string;
  readonly description: string;
}

/** A command in the command tree, with all words that can follow the command. */
export interface CompletionLevel {
  /** Words of the command path, for example `task get`, or an empty text for the program itself. */
  readonly commandPath: string;
  /** Names of subcommands, and values of arguments that accept only fixed values. */
  readonly commands: readonly CompletionWord[];
  readonly options: readonly (CompletionWord & {
    readonly long: string;
    readonly short?: string;
    readonly takesValue: boolean;
    /** Values that the option accepts, if the option accepts only fixed values. */
    readonly values: readonly string[];
  })[];
}

/** Returns the completion levels of a command and all its subcommands. */
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
