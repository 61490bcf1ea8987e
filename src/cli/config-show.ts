import { Command, type Option } from "commander";
import { applySettings, cautionsOf, isCredential, isSettable } from "./apply-settings.ts";
import type { Context } from "./context.ts";
import { didYouMean } from "./did-you-mean.ts";
import { addClientOptions, type ClientOptions } from "./options.ts";
import { Output } from "./output.ts";
import { readSettings, variableOf, type Settings } from "./settings.ts";

/** How one setting stands: its value, and which source that is from (a2a-cli SPEC §8.3). */
interface Shown {
  readonly name: string;
  /** Null: not set, and there is no default. */
  readonly value: string | null;
  readonly source: "flag" | "environment" | "local" | "global" | "default";
  readonly file?: string;
}

/** Reads only. The whole tree of commands has been loaded for it: what can be set is what they take. */
export function configShowCommand(context: Context): Command {
  return addClientOptions(new Command("show")).action((said: ClientOptions, self: Command) => {
    const settings = readSettings(said.config, context);
    const flags = new Set(self.options.filter((option) => isFlag(self, option)).map(variableOfOption));
    applySettings(self, settings);
    const { output: format, stream: lines = false } = self.opts<ClientOptions>();
    const output = new Output(context.streams, format, { lines });
    const options = settableOptions(rootOf(self));
    const shown = [...options].map(([name, option]) =>
      flags.has(name)
        ? {
            name,
            value: textOf(option, self.getOptionValue(option.attributeName())),
            source: "flag" as const,
          }
        : standing(name, option, settings),
    );
    output.facts({ settings: shown }, Object.fromEntries(shown.map((one) => [one.name, inWords(one)])));
    for (const caution of cautionsOf(self, settings)) output.warning(caution);
    for (const name of settings.names.filter((one) => !options.has(one) && one !== "A2ACLI_CONFIG")) {
      output.warning(`${name} is no setting of this tool.${didYouMean(name, options.keys())}`);
    }
  });
}

function isFlag(command: Command, option: Option): boolean {
  return command.getOptionValueSource(option.attributeName()) === "cli";
}

function variableOfOption(option: Option): string {
  return variableOf(option.long ?? "");
}

function standing(name: string, option: Option, settings: Settings): Shown {
  const setting = settings.get(name);
  if (!setting) {
    const { defaultValue, defaultValueDescription } = option;
    return { name, value: defaultValueDescription ?? textOf(option, defaultValue), source: "default" };
  }
  const { kind } = setting.from;
  const file = "file" in setting.from ? { file: setting.from.file } : {};
  return { name, value: textOf(option, setting.value), source: kind, ...file };
}

function textOf(option: Option, value: unknown): string | null {
  if (value === undefined) return null;
  if (isCredential(option)) return "***";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function inWords({ value, source, file }: Shown): string {
  return value === null ? "not set" : `${value} (${file ?? source})`;
}

function rootOf(command: Command): Command {
  return command.parent ? rootOf(command.parent) : command;
}

/** What the commands that talk to agents take, by its variable. */
function settableOptions(command: Command): Map<string, Option> {
  const isClient = command.options.some(({ long }) => long === "--agent-card");
  const own = isClient ? command.options.filter((option) => isSettable(option)) : [];
  return new Map([
    ...own.map((option) => [variableOfOption(option), option] as const),
    ...command.commands.flatMap((child) => [...settableOptions(child)]),
  ]);
}
