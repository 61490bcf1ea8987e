import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { CliContext } from "./cli-context.ts";
import { createUsageError } from "./cli-error.ts";

/** Value of a setting, with the source of the value. */
export interface Setting {
  readonly value: string;
  readonly source: SettingSource;
}

/**
 * `local` is the file from `--config`, or else the nearest `.env` file in the working directory or a parent
 * directory. `global` is the settings file in the user's home directory.
 */
export type SettingSource =
  | { readonly kind: "environment" }
  | { readonly kind: "global"; readonly file: string }
  | {
      readonly kind: "local";
      readonly file: string;
      /**
       * Whether the command discovered the `.env` file because the user specified no path. A discovered
       * `.env` file may belong to an untrusted project.
       */
      readonly isDiscovered: boolean;
    };

/** Settings by variable name, from several sources in order of precedence (a2a-cli SPEC §8.3). */
export class Settings {
  readonly #layers: readonly SettingsLayer[];

  constructor(layers: readonly SettingsLayer[]) {
    this.#layers = layers;
  }

  /**
   * Returns the value of a variable. If several sources set the variable, the source with the highest
   * precedence applies. An empty value unsets the variable and overrides all sources with lower precedence.
   */
  get(variable: string): Setting | undefined {
    for (const { source, values } of this.#layers) {
      const value = values[variable];
      if (value === undefined || (isDiscoveredEnvFile(source) && TRUSTED_ONLY_VARIABLES.has(variable)))
        continue;
      return value === "" ? undefined : { value, source: source };
    }
    return undefined;
  }

  /** Returns the names of all variables that at least one source sets. */
  get variableNames(): string[] {
    return [...new Set(this.#layers.flatMap(({ values }) => Object.keys(values)))]
      .filter((name) => name.startsWith(SETTING_VARIABLE_PREFIX))
      .toSorted();
  }

  /**
   * Returns the variables of a discovered `.env` file that are ignored, because only other sources can set
   * them.
   */
  get ignoredEnvFileVariables(): { variable: string; file: string }[] {
    return this.#layers.flatMap(({ source, values }) =>
      isDiscoveredEnvFile(source)
        ? [...TRUSTED_ONLY_VARIABLES]
            .filter((variable) => values[variable] !== undefined)
            .map((variable) => ({ variable, file: source.file }))
        : [],
    );
  }
}

interface SettingsLayer {
  readonly source: SettingSource;
  readonly values: Readonly<Record<string, string | undefined>>;
}

/** Returns whether the source is a discovered `.env` file. */
export function isDiscoveredEnvFile(from: SettingSource): from is SettingSource & { readonly file: string } {
  return from.kind === "local" && from.isDiscovered;
}

export const SETTING_VARIABLE_PREFIX = "A2ACLI_";

/**
 * Variables that a discovered `.env` file cannot set, because these variables can weaken the protection of
 * credentials and messages.
 */
const TRUSTED_ONLY_VARIABLES: ReadonlySet<string> = new Set([
  `${SETTING_VARIABLE_PREFIX}INSECURE`,
  `${SETTING_VARIABLE_PREFIX}ALLOW_CLEAR_TEXT`,
  `${SETTING_VARIABLE_PREFIX}TRUST_ORIGIN`,
  // The file of a record contains messages, and an untrusted project must not choose its path.
  `${SETTING_VARIABLE_PREFIX}RECORD`,
]);

/**
 * Converts a command-line flag to its variable name, for example `--agent-card` → `A2ACLI_AGENT_CARD`
 * (a2a-cli SPEC §7.2).
 */
export function toVariableName(flag: string): string {
  return SETTING_VARIABLE_PREFIX + flag.replace(/^--/, "").toUpperCase().replaceAll("-", "_");
}

/**
 * Reads the settings from the environment and all settings files. `config` is the path from `--config`, which
 * replaces the discovered `.env` file.
 */
export function readSettingsFromEnvAndFiles(
  config: string | undefined,
  { env, cwd }: Pick<CliContext, "env" | "cwd">,
): Settings {
  const layers: SettingsLayer[] = [{ source: { kind: "environment" }, values: env }];
  const named = config ?? env[`${SETTING_VARIABLE_PREFIX}CONFIG`];
  const local = named === undefined ? findNearestEnvFile(cwd) : readNamedEnvFile(resolve(cwd, named));
  if (local) layers.push(local);
  const globalFile = getUserFile(env, ".env");
  const values = readEnvFile(globalFile);
  if (values) layers.push({ source: { kind: "global", file: globalFile }, values });
  return new Settings(layers);
}

/** Returns the path of a file in the configuration folder of the user. */
function getUserFile(env: CliContext["env"], name: string): string {
  return join(env["HOME"] ?? homedir(), ".config", "a2a-cli", name);
}

/** Returns the path of the file with the tokens of `colloquy auth login`. */
export function getLoginFile(env: CliContext["env"]): string {
  return getUserFile(env, "colloquy-logins.json");
}

/** Finds the nearest `.env` file in a directory or its parent directories. */
function findNearestEnvFile(cwd: string): SettingsLayer | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const file = join(directory, ".env");
    const values = readEnvFile(file);
    if (values) return { source: { kind: "local", file, isDiscovered: true }, values };
    if (directory === dirname(directory)) return undefined;
  }
}

function readNamedEnvFile(file: string): SettingsLayer {
  const values = readEnvFile(file);
  if (values) return { source: { kind: "local", file, isDiscovered: false }, values };
  throw createUsageError(`The --config file ${file} cannot be read.`);
}

function readEnvFile(file: string): Record<string, string | undefined> | undefined {
  try {
    // Some editors begin a file with a byte order mark, which would be part of the first name.
    return parseEnv(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}

/**
 * Returns whether other users of the computer can read a file. On Windows, the function always returns
 * `false`.
 */
export function isReadableByOthers(file: string): boolean {
  return process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0;
}
