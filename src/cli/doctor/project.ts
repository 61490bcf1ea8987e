import { existsSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { ServeConfig } from "../../studio/config/index.ts";
import { classifyHost } from "../../studio/judge/index.ts";
import { createUsageError } from "../cli-error.ts";
import { describeIgnoredConfigFiles, readConfig } from "../serve/apply-config-file.ts";

const AUTH_SETTINGS = ["authTokenEnv", "bearerFile", "apiKeysFile", "oidcIssuer"] as const;

/** A project that the doctor examines. */
export interface Project {
  /** The folder with package.json. */
  readonly folder: string;
  readonly agents: NonNullable<ServeConfig["agents"]>;
  readonly config: ServeConfig;
  /** Configuration files that `colloquy serve` ignores, with the reasons. */
  readonly ignoredFiles: readonly string[];
  /** Whether machines other than this one can call the agents. */
  readonly isExposed: boolean;
  readonly hasAuth: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether checks may register as a node of the database. */
  readonly allowsMore: boolean;
}

/** Reads a project by its folder, or by the file of an agent. `config` is the configuration file, if it is named. */
export async function readProject(
  path: string,
  {
    config: configFile,
    ...options
  }: Pick<Project, "env" | "allowsMore"> & { readonly config: string | undefined },
): Promise<Project> {
  if (!existsSync(path))
    throw createUsageError(`${path} does not exist.`, "Pass a URL, a folder, or the file of an agent.");
  const isFile = statSync(path).isFile();
  const start = isFile ? dirname(path) : path;
  const folder = findPackageFolder(start) ?? start;
  const loaded = await readConfig(configFile, folder);
  const config: ServeConfig = loaded ?? {};
  const hosts = [config.host, URL.parse(config.publicUrl ?? "")?.hostname];
  return {
    folder,
    config,
    agents: isFile ? [path] : (config.agents ?? []),
    ignoredFiles: describeIgnoredConfigFiles(loaded?.file, folder, []),
    isExposed: hosts.some((host = "localhost") => classifyHost(host) !== "loopback"),
    hasAuth: AUTH_SETTINGS.some((name) => config[name] !== undefined),
    ...options,
  };
}

/** Returns the nearest folder with a package.json. */
function findPackageFolder(folder: string): string | undefined {
  if (existsSync(join(folder, "package.json"))) return folder;
  return dirname(folder) === folder ? undefined : findPackageFolder(dirname(folder));
}

/** Returns the SQLite file of the project, if its store is one. */
export function getStoreFile({ folder, config }: Project): string | undefined {
  const { store = "sqlite:.colloquy/colloquy.db" } = config;
  if (!store.startsWith("sqlite:")) return undefined;
  const file = store.slice("sqlite:".length);
  return isAbsolute(file) ? file : resolve(folder, file);
}

/** Returns the files of the configuration that contain credentials. */
export function listSecretFiles({ config }: Project): string[] {
  const { bearerFile, apiKeysFile, operatorTokenFile } = config;
  return [bearerFile, apiKeysFile, operatorTokenFile].filter((file) => file !== undefined);
}
