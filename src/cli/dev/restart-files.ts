import { dirname, join } from "node:path";
import type { ServeConfig } from "../../studio/config/index.ts";
import { toRelativePath } from "../../studio/dev/index.ts";
import { readConfig } from "../serve/apply-config-file.ts";

/** The files whose settings only a restart applies: the configuration file, and the `.env` files of agents. */
export class RestartFiles {
  readonly #config: (ServeConfig & { readonly file: string }) | undefined;
  readonly #cwd: string;

  /** `config` is the configuration at the start of the command. */
  constructor(config: (ServeConfig & { readonly file: string }) | undefined, cwd: string) {
    this.#config = config;
    this.#cwd = cwd;
  }

  /** Returns the paths to watch. The files need not exist. */
  listPaths(agentFiles: Iterable<string>): string[] {
    const envFiles = new Set([...agentFiles].map((file) => join(dirname(file), ".env")));
    return this.#config ? [...envFiles, this.#config.file] : [...envFiles];
  }

  /** Returns a line for each changed file with settings that are not applied yet. */
  async formatNotices(changed: ReadonlySet<string>): Promise<string> {
    const notices = [...changed]
      .filter((path) => path.endsWith(".env"))
      .map((path) => `${toRelativePath(path, this.#cwd)} has changed.`);
    if (this.#config && changed.has(this.#config.file)) {
      const keys = listChangedSettings(this.#config, await readConfig(this.#config.file, this.#cwd));
      if (keys.length > 0)
        notices.push(
          `${toRelativePath(this.#config.file, this.#cwd)} has a new value of ${keys.join(", ")}.`,
        );
    }
    return notices.map((notice) => `${notice} Restart colloquy dev to apply the change.\n`).join("");
  }
}

/** Returns the names of the settings that differ, without the agents. */
function listChangedSettings(earlier: ServeConfig, current: ServeConfig = {}): string[] {
  const keys = new Set([...Object.keys(earlier), ...Object.keys(current)]) as Set<keyof ServeConfig>;
  return [...keys].filter(
    (key) => key !== "agents" && JSON.stringify(earlier[key]) !== JSON.stringify(current[key]),
  );
}
