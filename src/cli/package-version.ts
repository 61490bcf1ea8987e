import { readFileSync } from "node:fs";

/** Reads the package version from package.json, which is two folders above both `src/cli` and `dist/cli`. */
export function readPackageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  return version;
}

/** One-line description of the `colloquy` program. */
export const PROGRAM_DESCRIPTION = "Serve agents on the A2A network, and call the agents of others.";
