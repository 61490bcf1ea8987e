import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Returns the folder of package.json, which is two folders above `src/cli`, `dist/cli`, and `dist/chunks`. */
export function getPackageFolder(): string {
  return fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");
}

/** Reads the version of the package from package.json. */
export function readPackageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(getPackageFolder(), "package.json"), "utf8")) as {
    version: string;
  };
  return version;
}

/** One-line description of the `colloquy` program. */
export const PROGRAM_DESCRIPTION = "Serve agents on the A2A network, and call the agents of others.";
