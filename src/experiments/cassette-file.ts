import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { A2AError } from "../protocol/index.ts";
import type { CassetteStore, CassetteEntry } from "../roles/index.ts";

/**
 * Opens a cassette that stores one JSON entry per line in a file. The file is read once, when it is opened,
 * and then only appended to, so several processes can record to it. When two entries have the same key, the
 * later one applies. An incomplete line of a killed process is ignored. Any other invalid line throws
 * `INVALID_PARAMS` with its position.
 */
export function openCassetteFile(file: string): CassetteStore {
  mkdirSync(dirname(file), { recursive: true });
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const lines = text.split("\n");
  // Text after the last newline is an incomplete line.
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
      // A single write keeps the lines of several processes intact.
      appendFileSync(file, `${linePrefix}${JSON.stringify(entry)}\n`);
      linePrefix = "";
      entries.set(entry.key, entry);
    },
  };
}

/**
 * Decodes an entry. Returns `undefined` for an incomplete line after which another process started a new
 * line.
 */
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
    `${location} is not a cassette entry. Remove the line, or use another file.`,
  );
}

const ENTRY_LINE_START = '{"key":"';
