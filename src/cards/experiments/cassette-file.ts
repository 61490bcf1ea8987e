import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { A2AError } from "../../protocol/index.ts";
import type { CassetteStore, CassetteEntry } from "../roles/index.ts";

/**
 * Opens a cassette, which is a file with one recorded model reply per line, as JSON. Several processes can
 * record to the same cassette, because each process reads the file once and then only appends lines. If two
 * entries of a cassette have the same key, the later entry applies. The cassette ignores an incomplete line,
 * which a killed process can leave. If any other line is invalid, the function throws `INVALID_PARAMS` with
 * the line number.
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
    get size() {
      return entries.size;
    },
    get: (key) => entries.get(key),
    put: (entry) => {
      // A single write keeps the lines of several processes intact.
      appendFileSync(file, `${linePrefix}${JSON.stringify(entry)}\n`);
      linePrefix = "";
      entries.set(entry.key, entry);
    },
  };
}

/** Decodes a cassette entry, or returns `undefined` if a killed process left the line incomplete. */
function decodeCassetteEntry(line: string, location: string): CassetteEntry | undefined {
  try {
    const entry = JSON.parse(line) as Partial<CassetteEntry> | null;
    if (typeof entry?.key === "string" && typeof entry.reply?.text === "string")
      return entry as CassetteEntry;
  } catch {
    if (line.startsWith(CASSETTE_LINE_PREFIX) || CASSETTE_LINE_PREFIX.startsWith(line)) return undefined;
  }
  throw new A2AError(
    "INVALID_PARAMS",
    `${location} is not a cassette entry. Remove the line, or use another file.`,
  );
}

const CASSETTE_LINE_PREFIX = '{"key":"';
