import { type Command, Option } from "commander";

/** Parsers or allowed values, and defaults with their descriptions, by the name of an option or by its value. */
interface OptionRowSettings {
  readonly values?: Readonly<
    Record<string, ((text: string, previous: never) => unknown) | readonly string[]>
  >;
  readonly defaults?: Readonly<Record<string, readonly [value: unknown, description?: string]>>;
}

/** Adds options from a text with one option per line: the flags, two spaces, and the description. */
export function addOptionRows(
  command: Command,
  rows: string,
  { values = {}, defaults = {} }: OptionRowSettings = {},
): Command {
  for (const row of rows.trim().split("\n")) {
    const [flags = "", description] = row.split("  ");
    const option = new Option(flags, description);
    const name = option.long?.slice("--".length) ?? "";
    const reader = values[name] ?? values[flags.slice(flags.indexOf("<"))];
    if (typeof reader === "function")
      option.argParser(reader as (text: string, previous: unknown) => unknown);
    else if (reader) option.choices(reader);
    if (defaults[name]) option.default(...defaults[name]);
    command.addOption(option);
  }
  return command;
}
