import type { Command } from "commander";
import type { CliContext } from "./cli-context.ts";

/**
 * Description of a command for the help text, and a function that loads the command's module. The program
 * loads only the module of the called command, which keeps the start-up time short.
 */
interface CommandEntry {
  readonly description: string;
  readonly loadFactory: () => Promise<(context: CliContext) => Command>;
}

/** A command group, which contains only subcommands. */
interface CommandGroup {
  readonly description: string;
  readonly commands: CommandTable;
}

/** Table of commands by name, in the order of the help text. */
export type CommandTable = Readonly<Record<string, CommandEntry | CommandGroup>>;
