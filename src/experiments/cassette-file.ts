import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { A2AError } from "../protocol/index.ts";
import type { CassetteStore, CassetteEntry } from "../roles/index.ts";

/**
 * A cassette in a file, a take a line of JSON, only ever appended to. It is read when it is opened; several processes may
 * record to it. Of takes with the same key the last counts. A line that a killed writer left unfinished is passed over;
 * any other that is no take throws INVALID_PARAMS with its place.
 */
export function openCassetteFile(file: string): CassetteStore {
  mkdirSync(dirname(file), { recursive: true });
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const lines = text.split("\n");
  // What stands behind the last line's end was not finished.
  const endsMidLine = lines.pop() !== "";
  const entries = new Map<string, CassetteEntry>();
  for (const [index, line] of lines.entries()) {
    const entry = line === "" ? undefined : decodeCassetteEntry(line, `${file}:${index + 1}`);
    if (entry) entries.set(entry.key, entry);
  }
  let linePrefix = endsMidLine ? "\n" : "";
  return {
    get: (key) => entries.get(key),
    put: (entry) => {
      // One write, so that lines of several processes stay whole.
      appendFileSync(file, `${linePrefix}${JSON.stringify(entry)}\n`);
      linePrefix = "";
      entries.set(entry.key, entry);
    },
  };
}

/** `undefined` for the beginning of a take, behind which somebody else went on in a new line. */
function decodeCassetteEntry(line: string, location: string): CassetteEntry | undefined {
  try {
    const entry = JSON.parse(line) as Partial<CassetteEntry> | null;
    if (typeof entry?.key === "string" && typeof entry.reply?.text === "string")
      return entry as CassetteEntry;
  } catch {
    if (line.startsWith(ENTRY_LINE_START) || ENTRY_LINE_START.startsWith(line)) return undefined;
  }
  throw new A2AError(
    "INVALID_PARAMS",
    `${location} is no take of a cassette; remove the line, or name another file.`,
  );
}

const ENTRY_LINE_START = '{"key":"';
