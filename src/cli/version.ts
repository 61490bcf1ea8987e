import { createRequire } from "node:module";

/** Read from package.json, which is two folders up both from `src/cli` and from `dist/cli`. */
export function packageVersion(): string {
  const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
  return version;
}

/** What the program is, in one line. */
export const ABOUT = "Agents on the A2A network: serve them, and talk to anybody's.";
