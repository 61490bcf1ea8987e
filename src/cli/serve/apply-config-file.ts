import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Command } from "commander";
import type { ServeConfig } from "../../studio/config/index.ts";
import { didYouMean } from "../../base/usage-checks/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createUsageError } from "../cli-error.ts";
import { parseDuration } from "../client-options.ts";
import { importFile } from "./import-file.ts";

const CONFIG_FILE_NAMES = ["ts", "mts", "js", "mjs"].map((extension) => `colloquy.config.${extension}`);

const UNSUPPORTED_CONFIG_FILE_NAMES = ["cts", "cjs", "json", "yaml"].map(
  (extension) => `colloquy.config.${extension}`,
);

/** Server configuration with absolute paths, and the path of the file that contains the configuration. */
type LoadedConfig = ServeConfig & { readonly file: string };

type ConfigValueType = "text" | "number" | "flag" | "texts" | "agents" | "duration" | "role";

/**
 * Required value type for each configuration key. With `Record`, the compiler checks that the table contains
 * every configuration key.
 */
const CONFIG_MEMBER_TYPES: Record<keyof ServeConfig, ConfigValueType> = {
  agents: "agents",
  port: "number",
  strictPort: "flag",
  grpcPort: "number",
  grpcUnlisted: "flag",
  openai: "flag",
  console: "flag",
  operatorTokenFile: "text",
  allowPrivateAgents: "flag",
  prices: "text",
  textIndex: "flag",
  host: "text",
  store: "text",
  keepTasks: "number",
  role: "role",
  drain: "duration",
  tickToken: "text",
  publicUrl: "text",
  corsOrigin: "texts",
  allowUnauthenticated: "flag",
  allowPrivateWebhooks: "flag",
  logFormat: "text",
  logRequests: "flag",
  record: "text",
  otlp: "text",
  metricsPort: "number",
  authTokenEnv: "texts",
  bearerFile: "text",
  apiKeysFile: "text",
  oidcIssuer: "text",
  audience: "texts",
};

const CONFIG_TYPE_DESCRIPTIONS: Record<ConfigValueType, string> = {
  text: "a text",
  number: "a whole number",
  flag: "true or false",
  texts: "a list of texts",
  agents: "a list of files, or agents by their names",
  duration: "a duration, such as 500ms, 30s, or 5m",
  role: "web, worker, or all",
};

/**
 * Reads the specified configuration file, or by default the configuration file in `cwd`. Returns `undefined`
 * if no configuration file exists.
 */
export async function readConfig(named: string | undefined, cwd: string): Promise<LoadedConfig | undefined> {
  const file = named === undefined ? findConfigFile(cwd) : resolve(cwd, named);
  if (file === undefined) return undefined;
  if (!existsSync(file)) throw createUsageError(`The configuration file ${file} does not exist.`);
  const { default: config } = await importConfig(file);
  return resolveConfigPaths(parseConfig(config, file), file);
}

/** Warns about configuration files that a command without `--config` does not read. */
export function warnAboutIgnoredConfigFiles(
  config: LoadedConfig | undefined,
  paths: readonly string[],
  { cwd, streams }: Pick<CliContext, "cwd" | "streams">,
): void {
  for (const text of describeIgnoredConfigFiles(config?.file, cwd, paths)) streams.err(`warning: ${text}\n`);
}

/**
 * Describes the configuration files that a command ignores in favor of `used`, and the reasons. If the working directory
 * has no configuration file, a file in its nearest parent directory or next to an agent of `paths` is ignored, too.
 */
export function describeIgnoredConfigFiles(
  used: string | undefined,
  cwd: string,
  paths: readonly string[],
): string[] {
  const files = [...CONFIG_FILE_NAMES, ...UNSUPPORTED_CONFIG_FILE_NAMES]
    .map((name) => join(cwd, name))
    .filter((file) => file !== used && existsSync(file));
  const reason = used ? `the command uses ${used}` : "its name does not end in .ts, .mts, .js, or .mjs";
  const warnings = files.map((file) => `${file} is ignored, because ${reason}.`);
  if (used) return warnings;
  const agentPaths = paths.map((path) => resolve(cwd, path));
  const elsewhere = [
    listParentFolders(cwd).map(findConfigFile).find(Boolean),
    ...agentPaths.flatMap((path) => [path, dirname(path)]).map(findConfigFile),
  ];
  const outside = [...new Set(elsewhere)]
    .filter((file) => file !== undefined)
    .map(
      (file) =>
        `${file} is ignored, because it is not in the working directory. To use the file, pass --config ${file}.`,
    );
  return [...warnings, ...outside];
}

function findConfigFile(folder: string): string | undefined {
  return CONFIG_FILE_NAMES.map((name) => join(folder, name)).find((file) => existsSync(file));
}

function listParentFolders(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [] : [parent, ...listParentFolders(parent)];
}

async function importConfig(file: string): Promise<Record<string, unknown>> {
  try {
    return await importFile(file);
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw createUsageError(`${file} could not be loaded: ${reason}`, undefined, error);
  }
}

function parseConfig(config: unknown, file: string): ServeConfig {
  if (typeof config !== "object" || config === null)
    throw createUsageError(`${file} has no default export; write: export default defineConfig({ … })`);
  const mistakes = Object.entries(config).flatMap(([key, value]) => {
    if (!Object.hasOwn(CONFIG_MEMBER_TYPES, key))
      return `${key} is unknown.${didYouMean(key, Object.keys(CONFIG_MEMBER_TYPES))}`;
    const kind = CONFIG_MEMBER_TYPES[key as keyof ServeConfig];
    return value === undefined || matchesConfigValueType(kind, value)
      ? []
      : `${key} must be ${CONFIG_TYPE_DESCRIPTIONS[kind]}.`;
  });
  if (mistakes.length > 0) throw createUsageError(`${file}: ${mistakes.join(" ")}`);
  return config;
}

function matchesConfigValueType(kind: ConfigValueType, value: unknown): boolean {
  if (kind === "text") return typeof value === "string";
  if (kind === "number") return Number.isInteger(value);
  if (kind === "flag") return typeof value === "boolean";
  if (kind === "duration") return typeof value === "string" && isDuration(value);
  if (kind === "role") return value === "web" || value === "worker" || value === "all";
  if (Array.isArray(value)) return value.every((one) => typeof one === "string");
  return kind === "agents" && typeof value === "object" && value !== null;
}

function isDuration(text: string): boolean {
  try {
    return parseDuration(text) >= 0;
  } catch {
    return false;
  }
}

function resolveConfigPaths(config: ServeConfig, file: string): LoadedConfig {
  const toAbsolute = (path: string): string => (isAbsolute(path) ? path : join(dirname(file), path));
  const { agents, store, bearerFile, apiKeysFile, operatorTokenFile, record } = config;
  return {
    ...config,
    ...(isConfigAgentPathList(agents) ? { agents: agents.map(toAbsolute) } : {}),
    ...(store?.startsWith("sqlite:") ? { store: `sqlite:${toAbsolute(store.slice("sqlite:".length))}` } : {}),
    ...(bearerFile === undefined ? {} : { bearerFile: toAbsolute(bearerFile) }),
    ...(operatorTokenFile === undefined ? {} : { operatorTokenFile: toAbsolute(operatorTokenFile) }),
    ...(apiKeysFile === undefined ? {} : { apiKeysFile: toAbsolute(apiKeysFile) }),
    ...(record === undefined ? {} : { record: toAbsolute(record) }),
    file,
  };
}

export function isConfigAgentPathList(agents: ServeConfig["agents"]): agents is readonly string[] {
  return Array.isArray(agents);
}

/**
 * Sets each option from the configuration file, unless the command line or the environment sets the option.
 */
export function applyConfig(command: Command, config: ServeConfig): void {
  for (const key of Object.keys(CONFIG_MEMBER_TYPES) as (keyof ServeConfig)[]) {
    const source = command.getOptionValueSource(key);
    const isSet = source === "cli" || source === "env";
    const value = key === "drain" && config.drain !== undefined ? parseDuration(config.drain) : config[key];
    if (key !== "agents" && value !== undefined && !isSet)
      command.setOptionValueWithSource(key, value, "config");
  }
}
