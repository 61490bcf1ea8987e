import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { CliContext } from "./cli-context.ts";
import { createUsageError } from "./cli-error.ts";

/** A value that an option has without being on the command line, and where it is from. */
export interface Setting {
  readonly value: string;
  readonly source: SettingSource;
}

/** `local`: the `.env` that is nearest to where the user stands, or the file of `--config`. `global`: the user's own. */
export type SettingSource =
  | { readonly kind: "environment" }
  | { readonly kind: "global"; readonly file: string }
  | {
      readonly kind: "local";
      readonly file: string;
      /** By walking up, not named by the user: it may be part of somebody else's project. */
      readonly isDiscovered: boolean;
    };

/** The values of variables by their names, the strongest source first (a2a-cli SPEC §8.3). */
export class Settings {
  readonly #layers: readonly SettingsLayer[];

  constructor(layers: readonly SettingsLayer[]) {
    this.#layers = layers;
  }

  /** The strongest that there is. An empty one says that there is none, whatever weaker sources say. */
  get(variable: string): Setting | undefined {
    for (const { source: from, values } of this.#layers) {
      const value = values[variable];
      if (value === undefined || (isDiscoveredSource(from) && TRUSTED_ONLY_VARIABLES.has(variable))) continue;
      return value === "" ? undefined : { value, source: from };
    }
    return undefined;
  }

  /** All names that any source has. */
  get variableNames(): string[] {
    return [...new Set(this.#layers.flatMap(({ values }) => Object.keys(values)))]
      .filter((name) => name.startsWith(VARIABLE_PREFIX))
      .toSorted();
  }

  /** What is said in a file that has no say in it. */
  get ignoredVariables(): { variable: string; file: string }[] {
    return this.#layers.flatMap(({ source: from, values }) =>
      isDiscoveredSource(from)
        ? [...TRUSTED_ONLY_VARIABLES]
            .filter((variable) => values[variable] !== undefined)
            .map((variable) => ({ variable, file: from.file }))
        : [],
    );
  }
}

interface SettingsLayer {
  readonly source: SettingSource;
  readonly values: Readonly<Record<string, string | undefined>>;
}

/** Whether nobody but the directory says that the file is to be read. */
export function isDiscoveredSource(from: SettingSource): from is SettingSource & { readonly file: string } {
  return from.kind === "local" && from.isDiscovered;
}

export const VARIABLE_PREFIX = "A2ACLI_";

/** What weakens the protection of credentials is not for a file that merely lies around. */
const TRUSTED_ONLY_VARIABLES: ReadonlySet<string> = new Set([
  `${VARIABLE_PREFIX}INSECURE`,
  `${VARIABLE_PREFIX}ALLOW_CLEAR_TEXT`,
]);

/** `--agent-card` → `A2ACLI_AGENT_CARD` (a2a-cli SPEC §7.2). */
export function toVariableName(flag: string): string {
  return VARIABLE_PREFIX + flag.replace(/^--/, "").toUpperCase().replaceAll("-", "_");
}

/** `config`: the file of `--config`, in place of the `.env` that would be found. */
export function readSettings(
  config: string | undefined,
  { env, cwd }: Pick<CliContext, "env" | "cwd">,
): Settings {
  const layers: SettingsLayer[] = [{ source: { kind: "environment" }, values: env }];
  const named = config ?? env[`${VARIABLE_PREFIX}CONFIG`];
  const local = named === undefined ? findNearestEnvFile(cwd) : readNamedEnvFile(resolve(cwd, named));
  if (local) layers.push(local);
  const globalFile = join(env["HOME"] ?? homedir(), ".config", "a2a-cli", ".env");
  const values = readEnvFile(globalFile);
  if (values) layers.push({ source: { kind: "global", file: globalFile }, values });
  return new Settings(layers);
}

/** The `.env` of the directory or of the nearest above that has one, as git finds its own. */
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
  throw createUsageError(`The file of --config, ${file}, can not be read.`);
}

function readEnvFile(file: string): Record<string, string | undefined> | undefined {
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Whether others on this machine may read a file; never on systems that say nothing of it. */
export function isReadableByOthers(file: string): boolean {
  return process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0;
}
