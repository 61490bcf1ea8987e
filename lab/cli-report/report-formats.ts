import { CLI_SPEC } from "../../test/house/cli-requirements.ts";
import {
  toFullRequirementId,
  computeRequirementTierTally,
  type ComplianceReport,
  type RequirementRow,
} from "./compliance-report.ts";
import type { StartupTimings } from "./measure-startup.ts";

export interface ReportMetadata {
  readonly version: string;
  readonly date: string;
  readonly node: string;
  readonly startup: StartupTimings | undefined;
}

const REQUIREMENT_TIERS = [1, 2, 3] as const;
const TESTED_AGENTS_TEXT =
  "Colloquy's own server (its TCK runs: docs/conformance.md), @a2a-js/sdk's server, raw HTTP servers";

function getHighestSatisfiedTier(report: ComplianceReport): number {
  return REQUIREMENT_TIERS.findLast((tier) => computeRequirementTierTally(report, tier).satisfied) ?? 0;
}

/** Renders the report file that the specification requires (COMPLIANCE.md, appendix A). */
export function renderComplianceReportYaml(
  report: ComplianceReport,
  { version, date }: ReportMetadata,
): string {
  const tallies = REQUIREMENT_TIERS.map((tier) => {
    const { total, pass, fail, not_measured, satisfied } = computeRequirementTierTally(report, tier);
    return `  tier_${tier}: {total: ${total}, pass: ${pass}, partial: 0, fail: ${fail}, not_measured: ${not_measured}, na: 0, satisfied: ${satisfied}}`;
  });
  return `# Written by \`npm run lab -- cli-report\` from the outcome of the tests.
report:
  tool: colloquy
  tool_version: ${quoteYaml(version)}
  language: TypeScript
  repository: ${quoteYaml("see package.json")}
  maintainer: ${quoteYaml("the Colloquy project")}
  report_date: ${quoteYaml(date)}
  spec_version: ${quoteYaml(CLI_SPEC.version)}
  spec_revision: ${quoteYaml(CLI_SPEC.revision)}
  a2a_versions: ["1.0", "0.3"]
  agent_tested: ${quoteYaml(TESTED_AGENTS_TEXT)}
  agent_tck_conformant: yes
  transports_covered: [HTTP+JSON, JSON-RPC, gRPC]
  tier_claimed: ${getHighestSatisfiedTier(report)}

summary:
${tallies.join("\n")}

requirements:
${report.rows.map(renderRequirement).join("\n")}

default_001_breakdown:
${Object.entries(report.defaults)
  .map(
    ([key, isPassed]) =>
      `  ${key}: {shipped: ${formatYesNo(isPassed)}, overridable: ${formatYesNo(isPassed)}, note: null}`,
  )
  .join("\n")}

error_codes:
${Object.entries(report.errors)
  .map(([code, isPassed]) => `  ${code}: {emitted: ${formatYesNo(isPassed)}, note: null}`)
  .join("\n")}

attestation:
  reported_by: ${quoteYaml("the tests of the project")}
  date: ${quoteYaml(date)}
  statement: ${quoteYaml("Each status is the outcome of the tests that name the id in their titles.")}
`;
}

function renderRequirement({ id, tier, section, text, status, note }: RequirementRow): string {
  const area = id.replace(/_\d+$/, "");
  return `  ${toFullRequirementId(id)}:
    tier: ${tier}
    area: ${area}
    spec: ${quoteYaml(section)}
    requirement: ${quoteYaml(text)}
    status: ${status}
    note: ${quoteYaml(note)}
    evidence: null`;
}

/** Every JSON string is a valid YAML string. */
function quoteYaml(value: string): string {
  return JSON.stringify(value);
}

function formatYesNo(isPassed: boolean): string {
  return isPassed ? "yes" : "no";
}

const STATUS_MARKS = { pass: "✅", fail: "❌", not_measured: "⊘" } as const;

/** Renders the report as Markdown. */
export function renderComplianceReportMarkdown(
  report: ComplianceReport,
  { version, date, node, startup }: ReportMetadata,
): string {
  const tiers = REQUIREMENT_TIERS.map((tier) => {
    const { total, pass, fail, not_measured, satisfied } = computeRequirementTierTally(report, tier);
    return `| ${tier} | ${total} | ${pass} | ${fail} | ${not_measured} | ${formatYesNo(satisfied)} |`;
  });
  const rows = report.rows.map(
    ({ id, tier, section, text, status, note }) =>
      `| \`${toFullRequirementId(id)}\` | ${tier} | ${section} | ${text} | ${STATUS_MARKS[status]} | ${note.replaceAll("|", "\\|")} |`,
  );
  return `# Colloquy ${version} and the CLI specification ${CLI_SPEC.version} of ${CLI_SPEC.revision}

Written on ${date} by \`npm run lab -- cli-report\`, from the outcome of the tests that name an id in their titles. Tested against: ${TESTED_AGENTS_TEXT}.

| tier | requirements | ✅ | ❌ | ⊘ | satisfied |
|---|---|---|---|---|---|
${tiers.join("\n")}

${startup ? renderStartup(startup, node) : "Startup was not measured."}

| id | tier | § | what is asked | | tests |
|---|---|---|---|---|---|
${rows.join("\n")}

Defaults (\`A2ACLI_DEFAULT_001\`): ${formatChecklist(report.defaults)}.

Local errors: ${formatChecklist(report.errors)}.
`;
}

function formatChecklist(rows: Readonly<Record<string, boolean>>): string {
  return Object.entries(rows)
    .map(([key, isPassed]) => `${key} ${isPassed ? "✅" : "❌"}`)
    .join(", ");
}

function renderStartup({ base, rows, rounds }: StartupTimings, node: string): string {
  const lines = rows.map(
    ({ command, median, minimum }) =>
      `| \`${command}\` | ${median.toFixed(0)} | ${minimum.toFixed(0)} | ${(median / base.median).toFixed(2)} |`,
  );
  return `Startup of the built command line, Node ${node}, ${rounds} rounds, in ms:

| | median | least | × \`node -e 0\` (medians) |
|---|---|---|---|
| \`node -e 0\` | ${base.median.toFixed(0)} | ${base.minimum.toFixed(0)} | 1 |
${lines.join("\n")}`;
}
