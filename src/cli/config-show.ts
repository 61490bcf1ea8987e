import { Command, type Option } from "commander";
import {
  applySettings,
  collectSettingFileWarnings,
  isCredentialOption,
  isSettableByVariable,
} from "./apply-settings.ts";
import type { CliContext } from "./cli-context.ts";
import { redactUserInfo } from "../observe/logging/index.ts";
import { didYouMean } from "../base/usage-checks/index.ts";
import { addClientOptions, type ClientOptions } from "./client-options.ts";
import { OutputWriter } from "./output-writer.ts";
import { readLogins } from "./auth/login-file.ts";
import { getLoginFile, readSettingsFromEnvAndFiles, toVariableName, type Settings } from "./settings.ts";

/** Name and value of a setting, with the source of the value (a2a-cli SPEC §8.3). */
interface ShownSetting {
  readonly name: string;
  /** Value of the setting, or `null` if the setting has neither a value nor a default. */
  readonly value: string | null;
  readonly source: "flag" | "environment" | "local" | "global" | "default";
  readonly file?: string;
}

/**
 * Creates the command `colloquy config show`, which displays all settings. `main.ts` loads all commands
 * before `colloquy config show` runs, because the commands' options are the settings.
 */
export function createConfigShowCommand(context: CliContext): Command {
  return addClientOptions(new Command("show")).action((flagOptions: ClientOptions, self: Command) => {
    const settings = readSettingsFromEnvAndFiles(flagOptions.config, context);
    const flags = new Set(self.options.filter((option) => isSetByFlag(self, option)).map(getOptionVariable));
    applySettings(self, settings);
    const { output: format, stream = false } = self.opts<ClientOptions>();
    const output = new OutputWriter(context.streams, format, { jsonLines: stream });
    const options = collectSettableOptions(getRootCommand(self));
    const shownSettings = [...options].map(([name, option]) =>
      flags.has(name)
        ? {
            name,
            value: formatOptionValue(option, self.getOptionValue(option.attributeName())),
            source: "flag" as const,
          }
        : resolveShownSetting(name, option, settings),
    );
    const logins = listShownLogins(getLoginFile(context.env));
    output.writeResult(
      { settings: shownSettings, logins },
      Object.fromEntries([
        ...shownSettings.map((one) => [one.name, formatShownSetting(one)]),
        ...logins.map(({ origin, scheme, expires }) => [
          `Login ${origin} ${scheme}`,
          expires === null ? "stored" : `expires ${expires}`,
        ]),
      ]),
    );
    for (const caution of collectSettingFileWarnings(self, settings)) output.writeWarning(caution);
    for (const name of settings.variableNames.filter((one) => !options.has(one) && one !== "A2ACLI_CONFIG")) {
      output.writeWarning(`${name} is no setting of this tool.${didYouMean(name, options.keys())}`);
    }
  });
}

/** A stored login without its tokens. */
interface ShownLogin {
  readonly origin: string;
  readonly scheme: string;
  readonly expires: string | null;
  readonly file: string;
}

function listShownLogins(file: string): ShownLogin[] {
  return readLogins(file).map(({ origin, scheme, expiresAt }) => ({
    origin,
    scheme,
    expires: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    file,
  }));
}

function isSetByFlag(command: Command, option: Option): boolean {
  return command.getOptionValueSource(option.attributeName()) === "cli";
}

function getOptionVariable(option: Option): string {
  return toVariableName(option.long ?? "");
}

function resolveShownSetting(name: string, option: Option, settings: Settings): ShownSetting {
  const setting = settings.get(name);
  if (!setting) {
    const { defaultValue, defaultValueDescription } = option;
    return {
      name,
      value: defaultValueDescription ?? formatOptionValue(option, defaultValue),
      source: "default",
    };
  }
  const { kind } = setting.source;
  const file = "file" in setting.source ? { file: setting.source.file } : {};
  return { name, value: formatOptionValue(option, setting.value), source: kind, ...file };
}

function formatOptionValue(option: Option, value: unknown): string | null {
  if (value === undefined) return null;
  if (isCredentialOption(option)) return "***";
  return typeof value === "string" ? redactUserInfo(value) : JSON.stringify(value);
}

function formatShownSetting({ value, source, file }: ShownSetting): string {
  return value === null ? "not set" : `${value} (${file ?? source})`;
}

function getRootCommand(command: Command): Command {
  return command.parent ? getRootCommand(command.parent) : command;
}

/** Returns the options of all client commands by variable name. */
function collectSettableOptions(command: Command): Map<string, Option> {
  const isClient = command.options.some(({ long }) => long === "--agent-card");
  const clientOptions = isClient ? command.options.filter((option) => isSettableByVariable(option)) : [];
  return new Map([
    ...clientOptions.map((option) => [getOptionVariable(option), option] as const),
    ...command.commands.flatMap((child) => [...collectSettableOptions(child)]),
  ]);
}
