/**
 * Counts lines of code: `npm run lines`. Tests, contracts, fixtures, blank lines, comments, and CSS do not count.
 *
 *   node lab/bench/lines.ts [--json] [FOLDER]
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { parseArgs } from "node:util";
import { parseSync } from "rolldown/utils";
import { CHECKOUT_ROOT } from "./builds.ts";

const CODE_FILE = /\.(?:[cm]?[jt]s|[jt]sx)$/;
const TEST_FILE = /\.(?:test|contract|fixture)\.[jt]sx?$|\.d\.ts$/;
/** Built files that Git ignores. */
const BUNDLE_FILE = /-bundle\.ts$/;
/** Folders at the root. Earlier commits have `bench/`. Each room of `src/` also counts on its own. */
const FOLDERS = ["src", "lab", "bench", "test", "scripts"];

/** Counts the lines of a source text that contain code. Lines inside of template literals count unless they are blank. */
export function countCodeLines(source: string, file = "source.ts"): number {
  const lang = file.endsWith("x") ? "tsx" : "ts";
  let code = "";
  let end = 0;
  for (const comment of parseSync(file, source, { lang }).comments) {
    code += source.slice(end, comment.start);
    // The line breaks of a comment stay, so that code before and after the comment stays on separate lines.
    code += source.slice(comment.start, comment.end).replaceAll(/[^\n]/g, "");
    end = comment.end;
  }
  return (code + source.slice(end)).split("\n").filter((line) => line.trim() !== "").length;
}

/** Counts the lines of code of a checkout by room of `src/`, of all of `src/`, and of the other folders. */
export function countLinesByFolder(root: string): Record<string, number> {
  const counts: Record<string, number> = {};
  const add = (name: string, lines: number): void => {
    counts[name] = (counts[name] ?? 0) + lines;
  };
  for (const folder of FOLDERS)
    for (const path of listCodeFiles(join(root, folder))) {
      const lines = countCodeLines(readFileSync(join(root, folder, path), "utf8"), path);
      const [room = "", ...rest] = path.split(sep);
      add(folder, lines);
      if (folder === "src") add(rest.length > 0 ? `src/${room}` : "src/*.ts", lines);
    }
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function listCodeFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
      (path) =>
        CODE_FILE.test(path) &&
        !TEST_FILE.test(path) &&
        !BUNDLE_FILE.test(path) &&
        !path.split(sep).includes("node_modules"),
    );
  } catch {
    return [];
  }
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: "boolean", default: false } },
  });
  const counts = countLinesByFolder(positionals[0] ?? CHECKOUT_ROOT);
  if (values.json) console.log(JSON.stringify(counts, null, 2));
  else
    for (const [name, lines] of Object.entries(counts))
      console.log(`${name.padEnd(22)} ${lines.toLocaleString("en-US").padStart(8)}`);
}
