import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { Context } from "./context.ts";
import { Problem } from "./problem.ts";

/** A value that an option has without being on the command line, and where it is from. */
export interface Setting {
  readonly value: string;
  readonly from: Source;
}

/** `local`: the `.env` that is nearest to where the user stands, or the file of `--config`. `global`: the user's own. */
export type Source =
  | { readonly kind: "environment" }
  | { readonly kind: "global"; readonly file: string }
  | {
      readonly kind: "local";
      readonly file: string;
      /** By walking up, not named by the user: it may be part of somebody else's project. */
      readonly isFound: boolean;
    };

/** The values of variables by their names, the strongest source first (a2a-cli SPEC §8.3). */
export class Settings {
  readonly #layers: readonly Layer[];

  constructor(layers: readonly Layer[]) {
    this.#layers = layers;
  }

  /** The strongest that there is. An empty one says that there is none, whatever weaker sources say. */
  get(variable: string): Setting | undefined {
    for (const { from, values } of this.#layers) {
      const value = values[variable];
      if (value === undefined || (isFound(from) && TRUSTED_ONLY.has(variable))) continue;
      return value === "" ? undefined : { value, from };
    }
    return undefined;
  }

  /** All names that any source has. */
  get names(): string[] {
    return [...new Set(this.#layers.flatMap(({ values }) => Object.keys(values)))]
      .filter((name) => name.startsWith(PREFIX))
      .toSorted();
  }

  /** What is said in a file that has no say in it. */
  get ignored(): { variable: string; file: string }[] {
    return this.#layers.flatMap(({ from, values }) =>
      isFound(from)
        ? [...TRUSTED_ONLY]
            .filter((variable) => values[variable] !== undefined)
            .map((variable) => ({ variable, file: from.file }))
        : [],
    );
  }
}

interface Layer {
  readonly from: Source;
  readonly values: Readonly<Record<string, string | undefined>>;
}

/** Whether nobody but the directory says that the file is to be read. */
export function isFound(from: Source): from is Source & { readonly file: string } {
  return from.kind === "local" && from.isFound;
}

export const PREFIX = "A2ACLI_";

/** What weakens the protection of credentials is not for a file that merely lies around. */
const TRUSTED_ONLY: ReadonlySet<string> = new Set([`${PREFIX}INSECURE`, `${PREFIX}ALLOW_CLEAR_TEXT`]);

/** `--agent-card` → `A2ACLI_AGENT_CARD` (a2a-cli SPEC §7.2). */
export function variableOf(flag: string): string {
  return PREFIX + flag.replace(/^--/, "").toUpperCase().replaceAll("-", "_");
}

/** `config`: the file of `--config`, in place of the `.env` that would be found. */
export function readSettings(
  config: string | undefined,
  { env, cwd }: Pick<Context, "env" | "cwd">,
): Settings {
  const layers: Layer[] = [{ from: { kind: "environment" }, values: env }];
  const named = config ?? env[`${PREFIX}CONFIG`];
  const local = named === undefined ? nearest(cwd) : readNamed(resolve(cwd, named));
  if (local) layers.push(local);
  const globalFile = join(env["HOME"] ?? homedir(), ".config", "a2a-cli", ".env");
  const values = read(globalFile);
  if (values) layers.push({ from: { kind: "global", file: globalFile }, values });
  return new Settings(layers);
}

/** The `.env` of the directory or of the nearest above that has one, as git finds its own. */
function nearest(cwd: string): Layer | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const file = join(directory, ".env");
    const values = read(file);
    if (values) return { from: { kind: "local", file, isFound: true }, values };
    if (directory === dirname(directory)) return undefined;
  }
}

function readNamed(file: string): Layer {
  const values = read(file);
  if (values) return { from: { kind: "local", file, isFound: false }, values };
  throw new Problem("A2ACLI_ERR_USAGE", `The file of --config, ${file}, can not be read.`);
}

function read(file: string): Record<string, string | undefined> | undefined {
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Whether others on this machine may read a file; never on systems that say nothing of it. */
export function isReadByOthers(file: string): boolean {
  return process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0;
}
