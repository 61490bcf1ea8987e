/**
 * Judges the servers of other projects with `colloquy conformance`, and prints the results as Markdown. It uses the
 * programs of lab/interop, and reports the peers that cannot be installed.
 *
 *   npm run lab -- acts peers [--only TEXT]
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { CORE_SCHEMA, load } from "js-yaml";
import { serveWithOfficialSdk } from "../../src/client/a2a-js-server.fixture.ts";
import { createServer } from "../../src/server/index.ts";
import {
  BINDINGS,
  count,
  formatBinding,
  judgeConformance,
  listFindings,
  loadCorpus,
  startWebhookReceiver,
  type BindingReport,
} from "../../src/studio/judge/index.ts";
import { ADK_PEERS } from "../interop/adk/adk-peers.ts";
import { JsonLinesProcess } from "../interop/adk/json-lines-process.ts";
import { createScenarioAgent } from "../interop/programs/frameworks/scenario-agent.ts";
import { SDK_PEERS, type ProgramCommand } from "../interop/sdk-peers.ts";
import { repositoryRoot } from "./agent-process.ts";
import { SlowA2aJsExecutor } from "./slow-a2a-js-executor.ts";

const START_TIMEOUT_MS = 60_000;

interface RunningPeer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** A server to judge, with the texts that its agent understands. */
interface JudgedPeer {
  readonly name: string;
  /** Starts the server. Resolves with the reason as text if that is impossible. */
  readonly start: () => Promise<RunningPeer | string>;
  readonly message: string;
  readonly waitMessage?: string;
  readonly askMessage: string;
}

const SCENARIO_TEXTS = { message: "count slowly", waitMessage: "wait", askMessage: "ask" };
const ADK_TEXTS = { message: "stream", askMessage: "approve" };
const log = (line: string): void => void process.stderr.write(`${line}\n`);
// The official SDK logs each error that it returns.
console.error = () => {};

async function startProgram(command: ProgramCommand | string): Promise<RunningPeer | string> {
  if (typeof command === "string") return command;
  const program = new JsonLinesProcess(command);
  const { url } = await program.read<{ url: string }>(START_TIMEOUT_MS);
  return { url, close: () => program.kill() };
}

const PEERS: readonly JudgedPeer[] = [
  {
    name: "Colloquy",
    ...SCENARIO_TEXTS,
    async start() {
      const server = createServer(createScenarioAgent(), { store: "memory", observer: false });
      const { url } = await server.listen({ grpc: true });
      return { url, close: () => server.close() };
    },
  },
  ...SDK_PEERS.map((peer): JudgedPeer => ({
    name: peer.sdk,
    ...SCENARIO_TEXTS,
    async start() {
      const { name } = peer;
      if (name === "js-sdk") return await serveWithOfficialSdk({ executor: new SlowA2aJsExecutor() });
      const programs = await peer.installPrograms(log);
      if (typeof programs === "string") return programs;
      if (!programs.server) return "there is no server";
      return await startProgram(
        name === "python" || name === "go" ? [...programs.server, "--default-webhooks"] : programs.server,
      );
    },
  })),
  ...ADK_PEERS.map((peer): JudgedPeer => ({
    name: peer.sdk,
    ...ADK_TEXTS,
    async start() {
      const program = await peer.installProgram(log);
      return await startProgram(typeof program === "string" ? program : [...program, "server"]);
    },
  })),
];

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
const corpus = await loadCorpus(
  (text) => load(text, { schema: CORE_SCHEMA }),
  pathToFileURL(join(repositoryRoot, "acts/suites/suite.acts.yaml")),
);
const webhooks = await startWebhookReceiver();
const rows: string[] = [];
const details: string[] = [];
for (const { name, start, message, waitMessage, askMessage } of PEERS.filter(({ name: text }) =>
  text.includes(values.only),
)) {
  log(name);
  const peer = await start();
  if (typeof peer === "string") {
    rows.push(`| ${name} | not judged: ${peer} | | | |`);
    continue;
  }
  const options = { url: peer.url, corpus, webhooks, message };
  const conformance = await judgeConformance(options);
  const bindings = [...new Set(conformance.map(({ binding }) => binding))];
  const resilience = await judgeConformance({
    ...options,
    bindings,
    allowsMore: true,
    resilience: { waitMessage, askMessage },
  });
  await peer.close();
  const cells = [conformance, resilience].flatMap((reports) =>
    ["1.0", "0.3"].map((version) => summarize(reports, version)),
  );
  rows.push(`| ${name} | ${cells.join(" | ")} |`);
  details.push(...listDetails(name, [...conformance, ...resilience]));
}
webhooks.close();
console.log(
  [
    "| Server | Conformance, 1.0 | Conformance, 0.3 | Resilience, 1.0 | Resilience, 0.3 |",
    "|---|---|---|---|---|",
    ...rows,
    "",
    ...details,
  ].join("\n"),
);

/** Formats the numbers of passed and failed tests for JSON-RPC, HTTP+JSON, and gRPC. */
function summarize(reports: readonly BindingReport[], version: string): string {
  const cells = BINDINGS.map((binding) => {
    const report = reports.find((one) => one.binding === binding && one.version === version);
    if (!report) return "–";
    const { passed, failed } = count(report.results);
    return `${passed}/${failed}`;
  });
  return cells.every((cell) => cell === "–") ? "–" : cells.join(", ");
}

/** Lists the failures with their last exchange. A failure on several bindings appears once. */
function listDetails(name: string, reports: readonly BindingReport[]): string[] {
  const findings = listFindings({ url: name, reports, expected: [] });
  const byTest = Map.groupBy(findings, ({ result }) => result.test.id);
  return [...byTest].flatMap(([id, [first, ...others]]) => {
    if (!first) return [];
    const { test, reason = "", exchanges = [] } = first.result;
    const bindings = [first, ...others].map(({ report }) => formatBinding(report)).join(", ");
    const section = test.spec_ref === undefined ? "advice" : test.spec_ref;
    return [
      `- ${name}: ${id} (${test.level}, ${section}) on ${bindings}: ${reason}`,
      `    ${exchanges.at(-1)?.slice(0, 700)}`,
    ];
  });
}
