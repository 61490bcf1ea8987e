import { InvalidArgumentError, type Command, type Option } from "commander";
import { createUsageError } from "./cli-error.ts";
import { CREDENTIAL_OPTIONS } from "./credential-redactor.ts";
import {
  isDiscoveredEnvFile,
  isReadableByOthers,
  toVariableName,
  type Setting,
  type Settings,
  type SettingSource,
} from "./settings.ts";

/**
 * Options that only the command line can set (a2a-cli SPEC §11.3). Settings cannot set options that describe
 * a single call or that select the settings file.
 */
const COMMAND_LINE_ONLY_OPTIONS: ReadonlySet<string> = new Set(
  [
    "stream",
    "config",
    "text",
    "file",
    "data",
    "media-type",
    "answer",
    "message-id",
    "page-token",
    "after",
    "url",
    "id",
    "token",
    "scheme",
    "flow",
    "scope",
    "redirect-port",
    "credentials",
    "force",
    "until-authorized",
  ].map((name) => `--${name}`),
);

/**
 * Pairs of mutually exclusive options. If the command line contains one option of a pair, settings cannot set
 * the other option.
 */
const MUTUALLY_EXCLUSIVE_OPTIONS: Readonly<Record<string, string>> = { async: "wait", wait: "async" };

/**
 * Returns whether a variable can set the command-line option. No variable can set a hidden option, because a
 * hidden option is only an alias.
 */
export function isSettableByVariable({ long, hidden }: Option): boolean {
  return long !== undefined && long !== null && !hidden && !COMMAND_LINE_ONLY_OPTIONS.has(long);
}

/** Applies the settings to all options that the command line does not set. */
export function applySettings(command: Command, settings: Settings): void {
  const isOnCommandLine = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  for (const option of command.options) {
    const name = option.attributeName();
    if (
      !isSettableByVariable(option) ||
      isOnCommandLine(name) ||
      isOnCommandLine(MUTUALLY_EXCLUSIVE_OPTIONS[name] ?? "")
    )
      continue;
    const variable = toVariableName(option.long ?? "");
    const setting = settings.get(variable);
    if (setting)
      command.setOptionValueWithSource(name, parseSettingValue(option, variable, setting), "config");
  }
}

function parseSettingValue(option: Option, variable: string, { value, source }: Setting): unknown {
  try {
    if (option.isBoolean()) return parseBoolean(value);
    return option.parseArg ? option.parseArg(value, undefined) : value;
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw createUsageError(`${variable} of ${formatSettingSource(source)} cannot be used: ${error.message}`);
  }
}

function parseBoolean(value: string): boolean {
  if (/^(true|yes|on|1)$/i.test(value)) return true;
  if (/^(false|no|off|0)$/i.test(value)) return false;
  throw new InvalidArgumentError("Use true or false.");
}

/** Variables whose values determine the servers that receive credentials. */
const ADDRESS_VARIABLES = ["--agent-card", "--oauth-issuer"].map(toVariableName);

/**
 * Throws an error if a discovered `.env` file sets the agent or the authorization server, and another source sets a
 * credential. Without the check, a project with a `.env` file could redirect the user's credentials to another
 * server. Command-line options and files that the user names count as trusted. `isAgentNamed` is true if the command
 * line names the agent.
 */
export function assertTrustedAgentForCredentials(
  command: Command,
  settings: Settings,
  isAgentNamed: boolean,
): void {
  const address = ADDRESS_VARIABLES.filter((variable) => !(isAgentNamed && variable === ADDRESS_VARIABLES[0]))
    .filter((variable) => !isOptionOnCommandLine(command, variable))
    .map((variable) => settings.get(variable))
    .find((setting) => setting !== undefined && isDiscoveredEnvFile(setting.source));
  if (!address || !isDiscoveredEnvFile(address.source)) return;
  const { file } = address.source;
  const credential = listCredentialSources(command, settings).find(
    ({ source }) => source === undefined || !isDiscoveredEnvFile(source),
  );
  if (credential)
    throw createUsageError(
      `${credential.subject} is not sent to ${address.value}, which only ${file} names.`,
      `If you trust that file, pass --config ${file}. Otherwise, pass the agent's URL.`,
    );
}

/**
 * Throws an error if a credential is set and only a test file names the agent. Test files are shared, so that a test file
 * of another project could redirect the user's credentials to another server.
 */
export function assertNoCredentialsForTestFile(
  command: Command,
  settings: Settings,
  { file, url }: { readonly file: string; readonly url: string },
): void {
  const [credential] = listCredentialSources(command, settings);
  if (credential)
    throw createUsageError(
      `${credential.subject} is not sent to ${url}, which only ${file} names.`,
      `If you trust that file, pass --url ${url}.`,
    );
}

/** A credential that is set. A credential without a source is on the command line. */
interface CredentialSource {
  readonly subject: string;
  readonly source?: SettingSource;
}

function listCredentialSources(command: Command, settings: Settings): CredentialSource[] {
  return command.options.filter(isCredentialOption).flatMap((option): CredentialSource[] => {
    const variable = toVariableName(option.long ?? "");
    if (isOptionOnCommandLine(command, variable)) return [{ subject: `The value of ${option.long}` }];
    const source = settings.get(variable)?.source;
    return source ? [{ subject: `${variable} of ${formatSettingSource(source)}`, source }] : [];
  });
}

function isOptionOnCommandLine(command: Command, variable: string): boolean {
  const option = command.options.find(({ long }) => long && toVariableName(long) === variable);
  return option !== undefined && command.getOptionValueSource(option.attributeName()) === "cli";
}

export function formatSettingSource(source: SettingSource): string {
  return source.kind === "environment" ? "the environment" : source.file;
}

/** Returns warnings about ignored variables and about credential files that other users can read. */
export function collectSettingFileWarnings(command: Command, settings: Settings): string[] {
  const ignored = settings.ignoredEnvFileVariables.map(
    ({ variable, file }) =>
      `${variable} in ${file} is ignored: pass the flag, or name the file with --config`,
  );
  const open = new Set<string>();
  for (const option of command.options) {
    const setting = isCredentialOption(option) ? settings.get(toVariableName(option.long ?? "")) : undefined;
    if (setting && "file" in setting.source && isReadableByOthers(setting.source.file))
      open.add(setting.source.file);
  }
  return [...ignored, ...[...open].map((file) => `others can read the credentials in ${file}: chmod 600 it`)];
}

/** `--svc-param` counts as a credential, because its value may contain a credential. */
export function isCredentialOption(option: Option): boolean {
  const name = option.attributeName();
  return name === "svcParam" || CREDENTIAL_OPTIONS.some((one) => one === name);
}
