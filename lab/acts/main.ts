/**
 * Runs ACTS, the A2A Conformance Test Suite, against the agent under test or any running server. `npm run lab -- acts`
 * compares the results with lab/acts/expected.json: a test that does not pass needs an entry there, and an entry whose
 * test has another outcome is an error, too.
 *
 * Exit codes: 0 if the results are as expected, 1 if they are not, 2 if the run could not start.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { CORE_SCHEMA, load } from "js-yaml";
import { repositoryRoot, withAgent } from "./agent-process.ts";
import { runBrokenServers } from "./broken/main.ts";
import {
  BINDINGS,
  CorpusError,
  count,
  createTestContext,
  createJsonReport,
  findUnexpected,
  findUnknownExceptions,
  loadCorpus,
  runSuite,
  startWebhookReceiver,
  type ActsTest,
  type Binding,
  type BindingReport,
  type Corpus,
  type ExpectedException,
  type ServerUnderTest,
  type TestResult,
} from "../../src/studio/judge/index.ts";
import { formatReport } from "./format-report.ts";
import { choosePass, VALID_TOKEN, type Pass } from "./passes.ts";

const USAGE = `usage: npm run lab -- acts [options]
  --binding jsonrpc|rest|grpc   run only on this binding (repeatable; all)
  --only ID                     run only this test (repeatable)
  --url URL                     test a running server instead of the agent under test
  --behaviors FILE|all          behaviors of the server at --url: a file like acts/sut-behaviors.yaml, or all
  --token TOKEN                 credentials for the server at --url (none)
  --broken                      show that the runner notices each broken server in lab/acts/broken
  --corpus DIR                  folder with suite.acts.yaml (acts/suites)
  --json                        print the reports of ACTS §13 as a JSON list
A run against --url has the exit code 0 if tests passed and no test of the level must failed.`;

const PASSES: readonly Pass[] = ["default", "auth", "reduced"];
const parseYaml = (text: string): unknown => load(text, { schema: CORE_SCHEMA });

class UsageError extends Error {}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError || error instanceof CorpusError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

async function main(): Promise<number> {
  const options = readOptions();
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const corpus = await loadCorpus(
    parseYaml,
    pathToFileURL(join(options.corpus ?? join(repositoryRoot, "acts/suites"), "suite.acts.yaml")),
  );
  const tests = selectTests(corpus, options.only);
  if (options.broken) return await runBrokenServers(tests);
  const { bindings, url, token, behaviors } = options;
  const run = await (url === undefined
    ? gradeAgent(corpus, tests, bindings)
    : gradeServer(tests, bindings, { baseUrl: url, token, behaviors }));
  const { reports, exceptions, problems, sdk } = run;
  if (reports.length === 0) throw new UsageError("No selected test runs on the selected bindings.");
  if (options.json) {
    const documents = reports.map((report) => createJsonReport(report, corpus, sdk));
    console.log(JSON.stringify(documents, undefined, 2));
  } else console.log(reports.map((report) => formatReport(report, exceptions)).join("\n\n"));
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

/** The results of all bindings. */
interface Grading {
  readonly reports: readonly BindingReport[];
  readonly exceptions: readonly ExpectedException[];
  /** Reasons why the run is not a success. */
  readonly problems: readonly string[];
  readonly sdk: { readonly name: string; readonly version: string };
}

function readOptions(): {
  readonly bindings: readonly Binding[];
  readonly only: readonly string[];
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly behaviors: ServerUnderTest["behaviors"];
  readonly corpus: string | undefined;
  readonly broken: boolean;
  readonly json: boolean;
  readonly help: boolean;
} {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        binding: { type: "string", multiple: true, default: [...BINDINGS] },
        only: { type: "string", multiple: true, default: [] },
        url: { type: "string" },
        behaviors: { type: "string" },
        token: { type: "string" },
        broken: { type: "boolean", default: false },
        corpus: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }));
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  }
  const unknown = values.binding.find((name) => !BINDINGS.includes(name as Binding));
  if (unknown !== undefined) throw new UsageError(`Unknown binding ${unknown}.\n${USAGE}`);
  const { url, token, behaviors } = values;
  if (url === undefined && (token !== undefined || behaviors !== undefined))
    throw new UsageError(`--token and --behaviors require --url.\n${USAGE}`);
  return {
    bindings: values.binding as Binding[],
    only: values.only,
    url,
    token,
    behaviors: behaviors === undefined || behaviors === "all" ? behaviors : readBehaviors(behaviors),
    corpus: values.corpus,
    broken: values.broken,
    json: values.json,
    help: values.help,
  };
}

function selectTests(corpus: Corpus, only: readonly string[]): readonly ActsTest[] {
  const unknown = only.find((id) => !corpus.tests.some((test) => test.id === id));
  if (unknown !== undefined) throw new UsageError(`The corpus has no test ${unknown}.`);
  return only.length === 0 ? corpus.tests : corpus.tests.filter(({ id }) => only.includes(id));
}

/** Runs the tests against the agent under test, which is started once for each pass. */
async function gradeAgent(
  corpus: Corpus,
  tests: readonly ActsTest[],
  bindings: readonly Binding[],
): Promise<Grading> {
  const behaviors = readBehaviors(join(repositoryRoot, "acts/sut-behaviors.yaml"));
  const results = new Map<Binding, TestResult[]>(bindings.map((binding) => [binding, []]));
  const webhooks = await startWebhookReceiver();
  try {
    for (const pass of PASSES) {
      const ofPass = tests.filter((test) => choosePass(test) === pass);
      if (ofPass.length === 0) continue;
      await withAgent(pass, async (baseUrl) => {
        const server = { baseUrl, token: VALID_TOKEN, trustedOrigins: "any" as const, behaviors, webhooks };
        for (const [binding, list] of results)
          list.push(...(await runSuite(ofPass, await createTestContext(binding, server))));
      });
    }
  } finally {
    webhooks.close();
  }
  const reports = toReports(results);
  const exceptions = readJson(new URL("expected.json", import.meta.url)) as ExpectedException[];
  const { version } = readJson(new URL("../../package.json", import.meta.url)) as { version: string };
  const problems = [
    ...findUnknownExceptions(exceptions, corpus.tests),
    ...reports.flatMap((report) => findUnexpected(report, exceptions)),
  ];
  return { reports, exceptions, problems, sdk: { name: "colloquy", version } };
}

/** Runs the tests against a running server. Tests whose preconditions its card does not fulfill are not verified. */
async function gradeServer(
  tests: readonly ActsTest[],
  bindings: readonly Binding[],
  server: Omit<ServerUnderTest, "webhooks">,
): Promise<Grading> {
  await assertReachable(server.baseUrl);
  const results = new Map<Binding, TestResult[]>();
  const webhooks = await startWebhookReceiver();
  try {
    for (const binding of bindings)
      results.set(binding, await runSuite(tests, await createTestContext(binding, { ...server, webhooks })));
  } finally {
    webhooks.close();
  }
  const reports = toReports(results);
  const problems = reports.flatMap((report) => {
    const { failed } = count(report.results, "must");
    if (failed > 0) return [`${report.binding}: ${failed} tests of the level must failed.`];
    // A run in which no test passed proves nothing.
    return count(report.results).passed === 0 ? [`${report.binding}: no test passed.`] : [];
  });
  return { reports, exceptions: [], problems, sdk: { name: server.baseUrl, version: "unknown" } };
}

function toReports(results: ReadonlyMap<Binding, readonly TestResult[]>): BindingReport[] {
  return [...results]
    .filter(([, list]) => list.length > 0)
    .map(([binding, list]) => ({ binding, results: list }));
}

async function assertReachable(url: string): Promise<void> {
  try {
    await fetch(url, { redirect: "manual" });
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new UsageError(`Cannot reach ${url}: ${cause}`);
  }
}

function readBehaviors(file: string): ReadonlySet<string> {
  if (!existsSync(file)) throw new UsageError(`Found no behaviors in ${file}.`);
  const document = load(readFileSync(file, "utf8"), { schema: CORE_SCHEMA });
  const { behaviors } = document as { behaviors: readonly { readonly prefix: string }[] };
  return new Set(behaviors.map(({ prefix }) => prefix));
}

function readJson(file: URL): unknown {
  return JSON.parse(readFileSync(file, "utf8")) as unknown;
}
