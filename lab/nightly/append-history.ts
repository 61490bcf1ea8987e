/**
 * Appends the outcomes in a folder of reports to the history, and renders the history as `README.md`.
 *
 *   node lab/nightly/append-history.ts REPORTS HISTORY
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { appendOutcome, parseOutcomes, renderHistoryPage, type SuiteOutcome } from "./suite-history.ts";

const [reports, history] = process.argv.slice(2);
if (reports === undefined || history === undefined) {
  console.error("usage: node lab/nightly/append-history.ts REPORTS HISTORY");
  process.exit(2);
}

for (const file of globSync("*.json", { cwd: reports })) {
  const outcome = JSON.parse(readFileSync(join(reports, file), "utf8")) as SuiteOutcome;
  const historyFile = join(history, `${outcome.suite}.jsonl`);
  const before = existsSync(historyFile) ? readFileSync(historyFile, "utf8") : "";
  writeFileSync(historyFile, appendOutcome(before, outcome));
}
const outcomesBySuite = new Map(
  globSync("*.jsonl", { cwd: history }).map((file) => [
    basename(file, ".jsonl"),
    parseOutcomes(readFileSync(join(history, file), "utf8")),
  ]),
);
writeFileSync(join(history, "README.md"), renderHistoryPage(outcomesBySuite));
