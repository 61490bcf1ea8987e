/**
 * Whether the command line is as the A2A project's CLI specification wants it, by the outcome of the tests that name its
 * ids; how fast the built one starts; and whether what `init` makes works with the built package. Writes reports/cli-compliance.yaml and .md. Ends with 1 when tier 1 is not
 * satisfied.
 *
 *   npm run -s cli-report -- [--tests FILE] [--rounds N]
 *
 * --tests: vitest's JSON report of a run that is over. Default: the tests of src/cli are run. --rounds 0: no startup.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fullId, reportOf, tallyOf, type TestOutcome } from "./report.ts";
import { checkScaffold } from "./scaffold.ts";
import { measureStartup } from "./startup.ts";
import { toMarkdown, toYaml, type About } from "./written.ts";

const { values } = parseArgs({
  options: { tests: { type: "string" }, rounds: { type: "string", default: "20" } },
});
const root = fileURLToPath(new URL("../../", import.meta.url));
const reports = `${root}reports`;
mkdirSync(reports, { recursive: true });

const file = values.tests ?? runTests();
const { testResults } = JSON.parse(readFileSync(file, "utf8")) as {
  testResults: { name: string; assertionResults: TestOutcome[] }[];
};
// Other rooms have ids of the same form.
const tests = testResults.flatMap(({ name, assertionResults }) =>
  name.includes("/src/cli/") ? assertionResults : [],
);
const report = reportOf(tests);
const rounds = Number(values.rounds);
const about: About = {
  version: (JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { version: string }).version,
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  startup: rounds > 0 ? await measureStartup(rounds) : undefined,
};
writeFileSync(`${reports}/cli-compliance.yaml`, toYaml(report, about));
writeFileSync(`${reports}/cli-compliance.md`, toMarkdown(report, about));

for (const tier of [1, 2, 3]) {
  const { total, pass, satisfied } = tallyOf(report, tier);
  console.log(`tier ${tier}: ${pass} of ${total}${satisfied ? ", satisfied" : ""}`);
}
for (const { id, tier, status, note } of report.rows) {
  if (status !== "pass" && tier === 1) console.log(`  ${fullId(id)} ${status}: ${note}`);
}
const { startup } = about;
for (const { what, median } of startup?.rows ?? []) {
  console.log(
    `${what}: ${median.toFixed(0)} ms, ${(median / (startup?.base.median ?? NaN)).toFixed(2)} × node -e 0`,
  );
}
await checkScaffold();
console.log("colloquy init: its project is right by its types, and served, with the built package");
console.log("reports/cli-compliance.md, .yaml");
process.exitCode = tallyOf(report, 1).satisfied ? 0 : 1;

function runTests(): string {
  const out = `${reports}/cli-tests.json`;
  const vitest = `${root}node_modules/vitest/vitest.mjs`;
  const args = [vitest, "run", "src/cli/", "--reporter=json", `--outputFile.json=${out}`];
  spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  return out;
}
