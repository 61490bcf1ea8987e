import { readFileSync } from "node:fs";

/** Read from package.json, which is two folders up both from `src/cli` and from `dist/cli`. */
export function readPackageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  return version;
}

/** What the program is, in one line. */
export const PROGRAM_DESCRIPTION = "Agents on the A2A network: serve them, and talk to anybody's.";
