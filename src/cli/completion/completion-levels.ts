import type { Command, Option } from "commander";

/** One word that may come next. */
export interface CompletionWord {
  readonly word: string;
  readonly description: string;
}

/** A place in the tree of commands, and what may stand there. */
export interface CompletionLevel {
  /** The commands that lead there: `task get`; empty for the program itself. */
  readonly commandPath: string;
  /** Commands, and arguments that can only be one of a few words. */
  readonly commands: readonly CompletionWord[];
  readonly options: readonly (CompletionWord & {
    readonly long: string;
    readonly short?: string;
    readonly takesValue: boolean;
    /** The values that it may have, when they are few. */
    readonly values: readonly string[];
  })[];
}

/** All places of a program, itself first. */
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
  const below = command.commands.flatMap((child) =>
    collectCompletionLevels(child, path === "" ? child.name() : `${path} ${child.name()}`),
  );
  return [level, ...below];
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
