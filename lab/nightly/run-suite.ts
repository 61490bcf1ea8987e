/**
 * Runs a long suite, and writes its outcome to `reports/nightly/NAME.json` and its output to `NAME.log`. The exit code
 * is that of the suite.
 *
 *   node lab/nightly/run-suite.ts NAME -- COMMAND [ARGUMENT…]
 */
import { spawn } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findReportTables } from "./bench-figures.ts";
import { findLastLines, type SuiteOutcome } from "./suite-history.ts";

const [suite, separator, command, ...args] = process.argv.slice(2);
if (suite === undefined || !/^[\w-]+$/.test(suite) || separator !== "--" || command === undefined) {
  console.error("usage: node lab/nightly/run-suite.ts NAME -- COMMAND [ARGUMENT…]");
  process.exit(2);
}

const folder = fileURLToPath(new URL("../../reports/nightly", import.meta.url));
mkdirSync(folder, { recursive: true });
const logFile = join(folder, `${suite}.log`);
const log = createWriteStream(logFile);
const startedAt = new Date();
const standardOutput: Buffer[] = [];
const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
for (const [source, target] of [
  [child.stdout, process.stdout],
  [child.stderr, process.stderr],
] as const)
  source.on("data", (chunk: Buffer) => {
    target.write(chunk);
    log.write(chunk);
  });
// The log also contains progress, which could be in the middle of a JSON document.
child.stdout.on("data", (chunk: Buffer) => void standardOutput.push(chunk));
const exitCode = await new Promise<number | null>((resolve, reject) => {
  child.once("error", reject);
  child.once("close", resolve);
});
await new Promise<void>((resolve) => log.end(resolve));

const tables = findReportTables(Buffer.concat(standardOutput).toString());
const outcome: SuiteOutcome = {
  suite,
  commit: process.env["GITHUB_SHA"] ?? "",
  startedAt: startedAt.toISOString(),
  seconds: (Date.now() - startedAt.getTime()) / 1000,
  exitCode,
  lastLines: findLastLines(readFileSync(logFile, "utf8")),
  ...(tables === undefined ? {} : { tables }),
};
writeFileSync(join(folder, `${suite}.json`), `${JSON.stringify(outcome, undefined, 2)}\n`);
process.exitCode = exitCode ?? 1;
