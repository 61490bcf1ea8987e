import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { dump } from "js-yaml";
import { Conversation, converse } from "../studio/testing/index.ts";
import { connectToAgent } from "./agent-connection.ts";
import {
  applySettings,
  assertNoCredentialsForTestFile,
  assertTrustedAgentForCredentials,
} from "./apply-settings.ts";
import type { CliContext } from "./cli-context.ts";
import { createUsageError, toCliError } from "./cli-error.ts";
import { addClientOptions, type ClientOptions } from "./client-options.ts";
import { ExitCodeError } from "./exit-code-error.ts";
import { writeConnectionWarnings } from "./define-agent-command.ts";
import { OutputWriter } from "./output-writer.ts";
import { readSettingsFromEnvAndFiles } from "./settings.ts";
import { AdkAgentFactory } from "./serve/adk-agent-factory.ts";
import { loadAgentFiles } from "./serve/load-agent-files.ts";
import { renderJunitReport } from "./test/junit-report.ts";
import { loadTestFile, type LoadedTest, type LoadedTestFile } from "./test/load-tests.ts";
import type { TestResult } from "./test/run-conversation-test.ts";

interface TestOptions extends ClientOptions {
  url?: string;
  agent?: string;
  recordedAgent?: string;
  repeat: number;
  junit?: string;
  write?: string;
}

/** Throws an error if a credential would be sent to a URL that only a test file names. */
type AssertTrusted = (address: { readonly file: string; readonly url: string }) => void;

/** Opens conversations with the tested agent. */
interface TestTarget {
  readonly open: () => Promise<Conversation>;
  readonly close?: (() => Promise<void>) | undefined;
}

export function createTestCommand(context: CliContext): Command {
  return addClientOptions(new Command("test"))
    .usage("<files...> [options]")
    .argument("<files...>", "test files (YAML or JSON), ADK eval sets (.evalset.json), or records (.jsonl)")
    .option("--url <agent>", "a host, or the URL of the agent or of its card (default: what the file names)")
    .option("--agent <file>", "the file of the agent, which runs in this process")
    .option("--recorded-agent <name>", "agent of a record with several agents")
    .option("--repeat <n>", "run each test n times; all trials must pass", parseRepeat, 1)
    .option("--junit <file>", "write the results in the JUnit format")
    .option("--write <file>", "write the conversations of a record as a test file, and run nothing")
    .addHelpText(
      "after",
      `
Examples:
  colloquy test refunds.test.yaml --agent refunds.ts
  colloquy test refunds.evalset.json --agent agent.ts
  colloquy test traffic.jsonl --write refunds.test.yaml
  colloquy test refunds.test.yaml --url https://agents.example/refunds --junit report.xml`,
    )
    .action(async (files: string[], flags: TestOptions, self: Command) => {
      const settings = readSettingsFromEnvAndFiles(flags.config, context);
      applySettings(self, settings);
      const options = self.opts<TestOptions>();
      if (self.getOptionValueSource("agentCard") === "cli" && options.agentCard !== undefined)
        options.url ??= options.agentCard;
      if (options.url !== undefined && options.agent !== undefined)
        throw createUsageError("Pass --url or --agent, not both.");
      assertTrustedAgentForCredentials(self, settings, options.url !== undefined);
      const output = new OutputWriter(context.streams, options.output);
      writeConnectionWarnings(output, self, settings, options);
      const assertTrusted: AssertTrusted = (address) =>
        assertNoCredentialsForTestFile(self, settings, address);
      if (options.write === undefined) await runTestFiles(files, options, context, assertTrusted);
      else await writeRecordedTests(files, options.write, options, context);
    });
}

function parseRepeat(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 1000) return count;
  throw new InvalidArgumentError("Pass a whole number from 1 to 1000.");
}

async function writeRecordedTests(
  files: readonly string[],
  target: string,
  options: TestOptions,
  { cwd, streams }: CliContext,
): Promise<void> {
  const loaded = await Promise.all(files.map((file) => loadTestFile(resolve(cwd, file), options)));
  const tests = loaded.flatMap(({ recorded }) => recorded ?? []);
  if (tests.length === 0) throw createUsageError("--write needs a traffic record (.jsonl).");
  const head = "# The expectations are what the agent did. Delete those that need not hold in every run.\n";
  // The flag `wx` never overwrites a file, because the user may have edited it.
  await writeFile(resolve(cwd, target), head + dump({ tests }, { lineWidth: 100 }), { flag: "wx" });
  streams.out(`${target}: ${tests.length} conversations\n`);
}

async function runTestFiles(
  files: readonly string[],
  options: TestOptions,
  context: CliContext,
  assertTrusted: AssertTrusted,
): Promise<void> {
  const loaded = await Promise.all(
    files.map(async (file) => ({ file, content: await loadTestFile(resolve(context.cwd, file), options) })),
  );
  const suites = new Map<string, TestResult[]>();
  try {
    for (const { file, content } of loaded) {
      const results: TestResult[] = [];
      suites.set(file, results);
      if (options.output === "text") context.streams.out(`${file}\n`);
      const target = await openTarget(file, content, options, context, assertTrusted);
      try {
        for (const test of content.tests) await runTrials(test, target.open, results, options, context);
      } finally {
        await target.close?.();
      }
    }
  } finally {
    // If an agent is unreachable or the user presses Ctrl-C, the report contains the earlier results.
    if (options.junit !== undefined)
      await writeFile(resolve(context.cwd, options.junit), renderJunitReport(suites));
  }
  const all = [...suites].flatMap(([file, results]) => results.map((result) => ({ file, ...result })));
  const failed = all.filter(({ failures }) => failures.length > 0).length;
  if (options.output === "json")
    new OutputWriter(context.streams, "json").writeJson({ passed: all.length - failed, failed, tests: all });
  else context.streams.out(`${all.length - failed} passed, ${failed} failed\n`);
  if (failed > 0) throw new ExitCodeError(1);
}

/** Runs all trials of a test, and shows and adds their results. */
async function runTrials(
  test: LoadedTest,
  open: TestTarget["open"],
  results: TestResult[],
  options: TestOptions,
  context: CliContext,
): Promise<void> {
  for (let trial = 1; trial <= options.repeat; trial++) {
    const result = await runTrial(test, open, options, context);
    const name = options.repeat === 1 ? result.name : `${result.name} (trial ${trial})`;
    results.push({ ...result, name });
    if (options.output === "text") context.streams.out(renderResult({ ...result, name }));
  }
}

/** Runs a test once. A conversation that exceeds `--timeout` fails, and Ctrl-C ends the command. */
async function runTrial(
  test: LoadedTest,
  open: TestTarget["open"],
  { timeout }: TestOptions,
  { interruptSignal }: CliContext,
): Promise<TestResult> {
  const timeLimit = new AbortController();
  const onTimeout = (): void =>
    timeLimit.abort(new DOMException("The time limit of --timeout expired.", "TimeoutError"));
  const timer = timeout === undefined ? undefined : setTimeout(onTimeout, timeout);
  try {
    const result = await test.run(open, AbortSignal.any([interruptSignal, timeLimit.signal]));
    interruptSignal.throwIfAborted();
    return result;
  } finally {
    clearTimeout(timer);
  }
}

async function openTarget(
  file: string,
  content: LoadedTestFile,
  options: TestOptions,
  context: CliContext,
  assertTrusted: AssertTrusted,
): Promise<TestTarget> {
  const path = options.agent === undefined ? content.agent : resolve(context.cwd, options.agent);
  if (options.url === undefined && path !== undefined) return openAgentFile(path, content);
  if (options.url === undefined && content.url !== undefined) assertTrusted({ file, url: content.url });
  const url = options.url ?? content.url ?? options.agentCard;
  if (url === undefined)
    throw createUsageError(
      `${file} names no agent.`,
      "Pass --url or --agent, or add the member agent or url.",
    );
  try {
    const { client, close } = await connectToAgent(url, options, context);
    return { open: () => Promise.resolve(new Conversation(client)), close };
  } catch (error) {
    throw toCliError(error, {});
  }
}

async function openAgentFile(path: string, { stateKeys }: LoadedTestFile): Promise<TestTarget> {
  const factory = new AdkAgentFactory({}, { receiveState: stateKeys });
  const { agents } = await loadAgentFiles([path], factory);
  const [agent, other] = Object.values(agents);
  if (agent === undefined || other !== undefined)
    throw createUsageError(`${path} contains several agents.`, "Pass the file of one agent.");
  return { open: () => converse(agent) };
}

function renderResult({ name, durationMs, failures, scores = {}, transcript }: TestResult): string {
  const figures = Object.entries(scores).map(([metric, score]) => `${metric} ${score.toFixed(3)}`);
  const time = [`${Math.round(durationMs)} ms`, ...figures].join(", ");
  if (failures.length === 0) return `  ok      ${name} (${time})\n`;
  const details = [...failures, "", transcript.trimEnd()]
    .flatMap((text) => text.split("\n"))
    .map((line) => `          ${line}`.trimEnd());
  return `  FAILED  ${name} (${time})\n${details.join("\n")}\n`;
}
