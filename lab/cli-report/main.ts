/**
 * Reports how well the command line complies with the A2A project's CLI specification, from the results of
 * the tests that cite its requirement ids. It also measures the startup time of the built command line, and
 * checks a project created by `colloquy init`. It writes reports/cli-compliance.yaml and .md. The exit code
 * is 1 when tier 1 is not satisfied.
 *
 *   npm run lab -- cli-report [--tests FILE] [--rounds N]
 *
 * `--tests` reads Vitest's JSON report of an earlier run. Default: runs the tests of src/cli. `--rounds 0`
 * skips the startup measurement.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  toFullRequirementId,
  createComplianceReport,
  computeRequirementTierTally,
  type TestOutcome,
} from "./compliance-report.ts";
import { checkScaffold } from "./check-scaffold.ts";
import { measureStartup } from "./measure-startup.ts";
import {
  renderComplianceReportMarkdown,
  renderComplianceReportYaml,
  type ReportMetadata,
} from "./report-formats.ts";

const { values } = parseArgs({
  options: { tests: { type: "string" }, rounds: { type: "string", default: "20" } },
});
const repositoryRoot = fileURLToPath(new URL("../../", import.meta.url));
const reportsFolder = `${repositoryRoot}reports`;
mkdirSync(reportsFolder, { recursive: true });

const testReportPath = values.tests ?? runCliTests();
const { testResults } = JSON.parse(readFileSync(testReportPath, "utf8")) as {
  testResults: { name: string; assertionResults: TestOutcome[] }[];
};
// Tests outside src/cli may cite ids of the same form.
const testOutcomes = testResults.flatMap(({ name, assertionResults }) =>
  name.includes("/src/cli/") ? assertionResults : [],
);
const complianceReport = createComplianceReport(testOutcomes);
const startupMeasurementRounds = Number(values.rounds);
const complianceReportMetadata: ReportMetadata = {
  version: (JSON.parse(readFileSync(`${repositoryRoot}package.json`, "utf8")) as { version: string }).version,
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  startup: startupMeasurementRounds > 0 ? await measureStartup(startupMeasurementRounds) : undefined,
};
writeFileSync(
  `${reportsFolder}/cli-compliance.yaml`,
  renderComplianceReportYaml(complianceReport, complianceReportMetadata),
);
writeFileSync(
  `${reportsFolder}/cli-compliance.md`,
  renderComplianceReportMarkdown(complianceReport, complianceReportMetadata),
);

for (const tier of [1, 2, 3]) {
  const { total, pass, satisfied } = computeRequirementTierTally(complianceReport, tier);
  console.log(`tier ${tier}: ${pass} of ${total}${satisfied ? ", satisfied" : ""}`);
}
for (const { id, tier, status, note } of complianceReport.rows) {
  if (status !== "pass" && tier === 1) console.log(`  ${toFullRequirementId(id)} ${status}: ${note}`);
}
const { startup } = complianceReportMetadata;
for (const { command, median } of startup?.rows ?? []) {
  console.log(
    `${command}: ${median.toFixed(0)} ms, ${(median / (startup?.base.median ?? NaN)).toFixed(2)} × node -e 0`,
  );
}
await checkScaffold();
console.log("colloquy init: the project compiles and serves its agent with the built package");
console.log("reports/cli-compliance.md, .yaml");
process.exitCode = computeRequirementTierTally(complianceReport, 1).satisfied ? 0 : 1;

function runCliTests(): string {
  const out = `${reportsFolder}/cli-tests.json`;
  // Failed tests are part of the report. Without this line, a run that writes no report would show an earlier one.
  rmSync(out, { force: true });
  const vitest = `${repositoryRoot}node_modules/vitest/vitest.mjs`;
  const args = [vitest, "run", "src/cli/", "--reporter=json", `--outputFile.json=${out}`];
  spawnSync(process.execPath, args, { cwd: repositoryRoot, stdio: ["ignore", "ignore", "inherit"] });
  return out;
}
