import { CLI_SPEC } from "../../test/cli-requirements.ts";
import { fullId, tallyOf, type Report, type Row } from "./report.ts";
import type { Startup } from "./startup.ts";

export interface About {
  readonly version: string;
  readonly date: string;
  readonly node: string;
  readonly startup: Startup | undefined;
}

const TIERS = [1, 2, 3] as const;
const AGENTS =
  "Colloquy's own server (its TCK runs: docs/conformance.md), @a2a-js/sdk's server, raw HTTP servers";

function tierOf(report: Report): number {
  return TIERS.findLast((tier) => tallyOf(report, tier).satisfied) ?? 0;
}

/** The file that the specification wants published (COMPLIANCE.md, appendix A). */
export function toYaml(report: Report, { version, date }: About): string {
  const tallies = TIERS.map((tier) => {
    const { total, pass, fail, not_measured, satisfied } = tallyOf(report, tier);
    return `  tier_${tier}: {total: ${total}, pass: ${pass}, partial: 0, fail: ${fail}, not_measured: ${not_measured}, na: 0, satisfied: ${satisfied}}`;
  });
  return `# Written by \`npm run -s cli-report\` from the outcome of the tests.
report:
  tool: colloquy
  tool_version: ${text(version)}
  language: TypeScript
  repository: ${text("see package.json")}
  maintainer: ${text("the Colloquy project")}
  report_date: ${text(date)}
  spec_version: ${text(CLI_SPEC.version)}
  spec_revision: ${text(CLI_SPEC.revision)}
  a2a_versions: ["1.0", "0.3"]
  agent_tested: ${text(AGENTS)}
  agent_tck_conformant: yes
  transports_covered: [HTTP+JSON, JSON-RPC, gRPC]
  tier_claimed: ${tierOf(report)}

summary:
${tallies.join("\n")}

requirements:
${report.rows.map(requirement).join("\n")}

default_001_breakdown:
${Object.entries(report.defaults)
  .map(([key, is]) => `  ${key}: {shipped: ${yesNo(is)}, overridable: ${yesNo(is)}, note: null}`)
  .join("\n")}

error_codes:
${Object.entries(report.errors)
  .map(([code, is]) => `  ${code}: {emitted: ${yesNo(is)}, note: null}`)
  .join("\n")}

attestation:
  reported_by: ${text("the tests of the project")}
  date: ${text(date)}
  statement: ${text("Each status is the outcome of the tests that name the id in their titles.")}
`;
}

function requirement({ id, tier, section, text: words, status, note }: Row): string {
  const area = id.replace(/_\d+$/, "");
  return `  ${fullId(id)}:
    tier: ${tier}
    area: ${area}
    spec: ${text(section)}
    requirement: ${text(words)}
    status: ${status}
    note: ${text(note)}
    evidence: null`;
}

/** A JSON text is one of YAML, too. */
function text(value: string): string {
  return JSON.stringify(value);
}

function yesNo(is: boolean): string {
  return is ? "yes" : "no";
}

const MARKS = { pass: "✅", fail: "❌", not_measured: "⊘" } as const;

/** The same for people. */
export function toMarkdown(report: Report, { version, date, node, startup }: About): string {
  const tiers = TIERS.map((tier) => {
    const { total, pass, fail, not_measured, satisfied } = tallyOf(report, tier);
    return `| ${tier} | ${total} | ${pass} | ${fail} | ${not_measured} | ${yesNo(satisfied)} |`;
  });
  const rows = report.rows.map(
    ({ id, tier, section, text: words, status, note }) =>
      `| \`${fullId(id)}\` | ${tier} | ${section} | ${words} | ${MARKS[status]} | ${note.replaceAll("|", "\\|")} |`,
  );
  return `# Colloquy ${version} and the CLI specification ${CLI_SPEC.version} of ${CLI_SPEC.revision}

Written on ${date} by \`npm run -s cli-report\`, from the outcome of the tests that name an id in their titles. Tested against: ${AGENTS}.

| tier | requirements | ✅ | ❌ | ⊘ | satisfied |
|---|---|---|---|---|---|
${tiers.join("\n")}

${startup ? startupText(startup, node) : "Startup was not measured."}

| id | tier | § | what is asked | | tests |
|---|---|---|---|---|---|
${rows.join("\n")}

Defaults (\`A2ACLI_DEFAULT_001\`): ${listOf(report.defaults)}.

Local errors: ${listOf(report.errors)}.
`;
}

function listOf(rows: Readonly<Record<string, boolean>>): string {
  return Object.entries(rows)
    .map(([key, is]) => `${key} ${is ? "✅" : "❌"}`)
    .join(", ");
}

function startupText({ base, rows, rounds }: Startup, node: string): string {
  const lines = rows.map(
    ({ what, median, least }) =>
      `| \`${what}\` | ${median.toFixed(0)} | ${least.toFixed(0)} | ${(median / base.median).toFixed(2)} |`,
  );
  return `Startup of the built command line, Node ${node}, ${rounds} rounds, in ms:

| | median | least | × \`node -e 0\` (medians) |
|---|---|---|---|
| \`node -e 0\` | ${base.median.toFixed(0)} | ${base.least.toFixed(0)} | 1 |
${lines.join("\n")}`;
}
