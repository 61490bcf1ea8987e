import type { Command, Option } from "commander";

/** One word that may come next. */
export interface Word {
  readonly word: string;
  readonly about: string;
}

/** A place in the tree of commands, and what may stand there. */
export interface Level {
  /** The commands that lead there: `task get`; empty for the program itself. */
  readonly path: string;
  /** Commands, and arguments that can only be one of a few words. */
  readonly commands: readonly Word[];
  readonly options: readonly (Word & {
    readonly long: string;
    readonly short?: string;
    readonly takesValue: boolean;
    /** The values that it may have, when they are few. */
    readonly values: readonly string[];
  })[];
}

/** All places of a program, itself first. */
export function levelsOf(command: Command, path = ""): Level[] {
  const help = command.createHelp();
  const level: Level = {
    path,
    commands: [
      ...command.commands.map((child) => ({ word: child.name(), about: child.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
        argChoices.map((word) => ({ word, about: description })),
      ),
    ],
    options: help.visibleOptions(command).map(toWord),
  };
  const below = command.commands.flatMap((child) =>
    levelsOf(child, path === "" ? child.name() : `${path} ${child.name()}`),
  );
  return [level, ...below];
}

function toWord(option: Option): Level["options"][number] {
  const { long, short, description, required, optional, argChoices = [] } = option;
  return {
    word: long ?? short ?? "",
    long: long ?? "",
    ...(short ? { short } : {}),
    about: description,
    takesValue: required || optional,
    values: argChoices,
  };
}
