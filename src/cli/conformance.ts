import { addOptionRows } from "./option-rows.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Command, Option } from "commander";
import {
  BINDINGS,
  count,
  createJsonReport,
  findUnknownExceptions,
  formatBinding,
  judgeConformance,
  LEVELS,
  RESILIENCE_SUITE,
  listFindings,
  listProblems,
  loadCorpus,
  renderBadge,
  renderMarkdown,
  renderSarif,
  startWebhookReceiver,
  type Binding,
  type ExpectedException,
  type JudgedRun,
  type ResilienceOptions,
} from "../studio/judge/index.ts";
import { parseAgentUrl } from "../client/index.ts";
import { isLoopbackHost } from "../protocol/index.ts";
import type { CliContext } from "./cli-context.ts";
import { createUsageError, toCliError } from "./cli-error.ts";
import { createOutputOption } from "./client-options.ts";
import { ExitCodeError } from "./exit-code-error.ts";
import { OutputWriter, type OutputFormat } from "./output-writer.ts";
import { getPackageFolder, readPackageVersion } from "./package-version.ts";
import { parseYaml } from "./parse-yaml.ts";
import { renderJunitReport, type JunitCase } from "./test/junit-report.ts";

interface ConformanceCommandOptions {
  output: OutputFormat;
  bearer?: string;
  trustOrigin?: string[];
  binding?: Binding[];
  only?: string[];
  message: string;
  resilience?: boolean;
  waitMessage?: string;
  askMessage?: string;
  restartCommand?: string;
  yes?: boolean;
  behaviors?: string;
  expectedFailures?: string;
  markdown?: boolean;
  junit?: string;
  sarif?: string;
  badge?: string;
}

const OPTION_ROWS = `
--trust-origin <url...>  also send the token to this origin if the card names it
--binding <binding...>  check only these bindings (default: those of the card)
--only <id...>  run only these tests
--message <text>  the message that the agent receives, about three times per binding and version
--resilience  check the behavior under faults, on the first binding of the card
--wait-message <text>  with --resilience: a text after which the agent works until canceled
--ask-message <text>  with --resilience: a text after which the agent asks for input
--restart-command <command>  with --resilience: a shell command that restarts the server
-y, --yes  also send more messages, and with --resilience webhooks and large requests
--behaviors <file>  texts of ACTS that a test agent understands (YAML), or all
--expected-failures <file>  JSON list of known failures: test, bindings, outcome, reason
--markdown  print Markdown
--junit <file>  write a JUnit report
--sarif <file>  write the findings as SARIF
--badge <file>  write a badge as SVG`;

export function createConformanceCommand(context: CliContext): Command {
  const command = new Command("conformance")
    .usage("<agent> [options]")
    .argument("<agent>", "a host, or the URL of the agent or of its card")
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .addOption(new Option("--bearer <token>", "bearer token to authenticate with").env("A2ACLI_BEARER"));
  return addOptionRows(command, OPTION_ROWS, {
    values: { binding: BINDINGS },
    defaults: { message: ["Hello"] },
  })
    .addHelpText(
      "after",
      `
A test has passed, failed, or is not verified. A test that is not verified proves nothing. The agent receives small
messages: about three for each binding and version that its card names, more with --behaviors or --yes, and up to four
more if it accepts invalid requests.

Exit codes: 0 if no test of the level must failed, 1 if one failed, an expectation is wrong, or nothing of a binding is
verified, 2 for a wrong command line, 3 if the agent was not reached.

Examples:
  colloquy conformance http://localhost:4120
  colloquy conformance agents.example.com --binding jsonrpc --sarif a2a.sarif --badge a2a.svg
  colloquy conformance http://localhost:9999 --behaviors acts/sut-behaviors.yaml
  colloquy conformance http://localhost:4120 --resilience --yes --message "Count slowly to five"`,
    )
    .action((url: string, options: ConformanceCommandOptions) => runConformance(url, options, context));
}

async function runConformance(
  url: string,
  options: ConformanceCommandOptions,
  context: CliContext,
): Promise<void> {
  const { streams, cwd } = context;
  const isProgressShown = options.output === "text" && options.markdown !== true;
  const [corpus, behaviors, expected] = await Promise.all([
    loadCorpus(parseYaml, pathToFileURL(join(getPackageFolder(), "acts/suites/suite.acts.yaml"))),
    readBehaviors(options.behaviors, cwd),
    options.expectedFailures === undefined
      ? []
      : readExpectedFailures(resolve(cwd, options.expectedFailures)),
  ]);
  // A server elsewhere cannot reach a webhook on this machine.
  const webhooks = isLoopbackHost(parseAgentUrl(url).hostname) ? await startWebhookReceiver() : undefined;
  let announced = "";
  try {
    const reports = await judgeConformance({
      url,
      corpus,
      behaviors,
      webhooks,
      message: options.message,
      token: options.bearer,
      trustedOrigins: options.trustOrigin,
      bindings: options.binding,
      only: options.only,
      allowsMore: options.yes,
      resilience: options.resilience ? toResilienceOptions(options, cwd) : undefined,
      onResult(result, report) {
        const name = formatBinding(report);
        if (!isProgressShown) return;
        if (name !== announced) streams.err(`${name}\n`);
        announced = name;
        if (result.outcome === "failed") streams.err(`  failed ${result.test.id} (${result.test.level})\n`);
      },
    });
    const run: JudgedRun = { url, reports, expected };
    if (reports.length === 0)
      throw createUsageError(
        "No selected test runs on the bindings of the agent.",
        "Check --only, --binding, and the interfaces of the card.",
      );
    await writeReports(run, options, cwd);
    const known = [...corpus.tests, ...reports.flatMap(({ results }) => results.map(({ test }) => test))];
    const problems = [
      ...listProblems(run),
      ...(options.only === undefined ? findUnknownExceptions(expected, known) : []),
    ];
    if (options.output === "json") {
      const sdk = { name: url, version: "unknown" };
      new OutputWriter(streams, "json").writeJson({
        url,
        problems,
        reports: reports.map((report) => createJsonReport(report, corpus, sdk)),
      });
    } else if (options.markdown === true) streams.outDocument(renderMarkdown(run));
    else streams.out(renderText(run, problems));
    if (problems.length > 0) throw new ExitCodeError(1);
  } catch (error) {
    throw error instanceof ExitCodeError
      ? error
      : toCliError(error, { hasCredentials: options.bearer !== undefined });
  } finally {
    webhooks?.close();
  }
}

function toResilienceOptions(
  { waitMessage, askMessage, restartCommand: command }: ConformanceCommandOptions,
  cwd: string,
): ResilienceOptions {
  const restart = async (): Promise<void> => {
    // A server that the command leaves in the background keeps the output open, so that a pipe would not end.
    const child = spawn(command ?? "", { cwd, shell: true, stdio: ["ignore", 2, 2] });
    const [exitCode] = (await once(child, "exit")) as [number | null];
    if (exitCode !== 0) throw new Error(`Command failed with exit code ${exitCode}: ${command}`);
  };
  return { waitMessage, askMessage, restart: command === undefined ? undefined : restart };
}

async function writeReports(run: JudgedRun, options: ConformanceCommandOptions, cwd: string): Promise<void> {
  if (options.junit !== undefined) {
    const suites = new Map(
      run.reports.map((report) => [
        formatBinding(report),
        report.results.map(({ test, outcome, reason = "", exchanges = [], durationMs }): JunitCase => ({
          name: `${test.id}: ${test.name}`,
          durationMs,
          failures: outcome === "failed" ? [reason] : [],
          transcript: exchanges.join("\n"),
          skipped: outcome === "not verified" ? reason : undefined,
        })),
      ]),
    );
    await writeFile(resolve(cwd, options.junit), renderJunitReport(suites));
  }
  if (options.sarif !== undefined)
    await writeFile(resolve(cwd, options.sarif), `${renderSarif(run, readPackageVersion())}\n`);
  if (options.badge !== undefined) await writeFile(resolve(cwd, options.badge), renderBadge(run));
}

function renderText(run: JudgedRun, problems: readonly string[]): string {
  const lines: string[] = [];
  for (const report of run.reports) {
    const cells = LEVELS.map((level) => {
      const { passed, failed, notVerified } = count(report.results, level);
      return `${level} ${passed} passed, ${failed} failed, ${notVerified} not verified`;
    });
    lines.push(`${formatBinding(report)}: ${cells.join("; ")}`);
    for (const { test, outcome, reason } of report.results)
      if (test.suite === RESILIENCE_SUITE)
        lines.push(`  ${outcome.padEnd(12)} ${test.id}: ${reason ?? test.name}`);
  }
  for (const { result, report, isExpected } of listFindings(run)) {
    const { test, step, reason = "", exchanges = [] } = result;
    const section =
      test.spec_ref === undefined ? "" : `, ${test.spec_ref.replace("docs/specification.md", "A2A ")}`;
    lines.push("", `failed ${test.id} on ${formatBinding(report)} (${test.level}${section}): ${test.name}`);
    lines.push(`  ${step === undefined ? "" : `step ${step}: `}${reason}`);
    lines.push(...exchanges.map((text) => `  ${text}`));
    if (test.hint !== undefined) lines.push(`  hint: ${test.hint}`);
    if (isExpected) lines.push("  expected");
  }
  const verdict =
    problems.length === 0
      ? ["No test of the level must failed."]
      : [...problems, `${problems.length} problems. The exit code is 1.`];
  return `${[...lines, "", ...verdict].join("\n")}\n`;
}

async function readBehaviors(
  file: string | undefined,
  cwd: string,
): Promise<ReadonlySet<string> | "all" | undefined> {
  if (file === undefined || file === "all") return file;
  try {
    const { behaviors } = parseYaml(await readFile(resolve(cwd, file), "utf8")) as {
      behaviors: { prefix: string }[];
    };
    return new Set(behaviors.map(({ prefix }) => prefix));
  } catch (error) {
    throw createUsageError(`${file} has no list of behaviors.`, "Copy acts/sut-behaviors.yaml.", error);
  }
}

async function readExpectedFailures(file: string): Promise<readonly ExpectedException[]> {
  let list: unknown;
  try {
    list = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw createUsageError(`${file} cannot be read as JSON.`, undefined, error);
  }
  if (Array.isArray(list) && list.every(isEntry)) return list;
  throw createUsageError(`${file} is no list of { test, bindings, outcome, reason }.`);
}

function isEntry(entry: unknown): entry is ExpectedException {
  const { test, bindings, outcome, reason } = (entry ?? {}) as Partial<Record<string, unknown>>;
  const isOutcome = outcome === "failed" || outcome === "not verified";
  return typeof test === "string" && Array.isArray(bindings) && isOutcome && typeof reason === "string";
}
