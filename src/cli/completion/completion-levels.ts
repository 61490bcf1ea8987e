import type { Command, Option } from "commander";

/** A word that shell completion can suggest, with a description. */
export interface CompletionWord {
  readonly word: string;
  readonly description: string;
}

/** A command, with all words that can follow it. */
export interface CompletionLevel {
  /** Command path, for example `task get`. The command path of the program itself is empty. */
  readonly commandPath: string;
  /** Names of subcommands, and values of arguments that accept only fixed values. */
  readonly commands: readonly CompletionWord[];
  readonly options: readonly (CompletionWord & {
    readonly long: string;
    readonly short?: string;
    readonly takesValue: boolean;
    /**
     * Fixed values that the option accepts. The list of fixed values is empty if the option accepts any
     * value.
     */
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
