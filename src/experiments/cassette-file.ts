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
  const unfinished = lines.pop() !== "";
  const takes = new Map<string, CassetteEntry>();
  for (const [index, line] of lines.entries()) {
    const take = line === "" ? undefined : decodeCassetteEntry(line, `${file}:${index + 1}`);
    if (take) takes.set(take.key, take);
  }
  let begin = unfinished ? "\n" : "";
  return {
    get: (key) => takes.get(key),
    put: (take) => {
      // One write, so that lines of several processes stay whole.
      appendFileSync(file, `${begin}${JSON.stringify(take)}\n`);
      begin = "";
      takes.set(take.key, take);
    },
  };
}

/** `undefined` for the beginning of a take, behind which somebody else went on in a new line. */
function decodeCassetteEntry(line: string, where: string): CassetteEntry | undefined {
  try {
    const take = JSON.parse(line) as Partial<CassetteEntry> | null;
    if (typeof take?.key === "string" && typeof take.reply?.text === "string") return take as CassetteEntry;
  } catch {
    if (line.startsWith(ENTRY_LINE_START) || ENTRY_LINE_START.startsWith(line)) return undefined;
  }
  throw new A2AError(
    "INVALID_PARAMS",
    `${where} is no take of a cassette; remove the line, or name another file.`,
  );
}

const ENTRY_LINE_START = '{"key":"';
