/**
 * Tests our server and client against the official SDKs in other languages, in every binding and version that
 * they support: their clients with our server, and our client with their servers. It uses Python and Go if
 * they are installed, and reports the SDKs that it skips. A failure that test/interop/expected.json does not
 * list fails the run. A listed failure that does not occur fails the run, too.
 *
 *   npm run interop -- [--only python|go|0.3] [--json]
 */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { createServer } from "../../src/server/index.ts";
import { textDrivenAgent } from "../../test/interop/text-driven-agent.ts";
import { type ExpectedFailure, countUnexpectedOutcomes } from "../tck/count-unexpected-outcomes.ts";
import {
  type ProgramCommand,
  type SdkPeer,
  SDK_PEERS,
  type PeerServerAndClientCommands,
} from "./sdk-peers.ts";
import { runOurClient } from "./scenarios.ts";
import { type ScenarioOutcome, type ProtocolVariant, PROTOCOL_VARIANTS } from "./protocol-variants.ts";

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, json: { type: "boolean", default: false } },
});

const CALL_DIRECTIONS = ["their client", "our client"] as const;

interface InteropScenarioResult extends ProtocolVariant, ScenarioOutcome {
  readonly peer: string;
  readonly sdk: string;
  readonly direction: (typeof CALL_DIRECTIONS)[number];
}

const log = (line: string): void => (values.json ? console.error(line) : console.log(line));
const expectedFailures = JSON.parse(
  readFileSync(new URL("../../test/interop/expected.json", import.meta.url), "utf8"),
) as ExpectedFailure[];
const allScenarioResults: InteropScenarioResult[] = [];
const skippedPeers: { readonly peer: string; readonly why: string }[] = [];
let unexpectedOutcomeCount = 0;

const ourServer = createServer(textDrivenAgent, { store: "memory", push: { allowPrivate: true } });
const { url } = await ourServer.listen({ grpc: true });
for (const peer of SDK_PEERS.filter(({ name }) => name.includes(values.only))) {
  const programs = await peer.installPrograms(log);
  if (typeof programs === "string") {
    skippedPeers.push({ peer: peer.name, why: programs });
    log(`${peer.sdk}: left out, because ${programs}`);
  } else unexpectedOutcomeCount += await runPeerScenariosInBothDirections(peer, programs);
}
await ourServer.close();
if (values.json)
  console.log(
    JSON.stringify(
      { rows: allScenarioResults, skipped: skippedPeers, surprises: unexpectedOutcomeCount },
      undefined,
      2,
    ),
  );
process.exit(unexpectedOutcomeCount === 0 ? 0 : 1);

/** Runs all variants in both directions. Returns the number of unexpected outcomes. */
async function runPeerScenariosInBothDirections(
  peer: SdkPeer,
  programs: PeerServerAndClientCommands,
): Promise<number> {
  const theirs = spawnPeerProgram(programs.server);
  let unexpected = 0;
  try {
    const theirUrl = await readPeerServerUrl(theirs, programs.server);
    for (const direction of CALL_DIRECTIONS) {
      const met: InteropScenarioResult[] = [];
      for (const variant of PROTOCOL_VARIANTS.filter(peer.supports)) {
        const outcomes =
          direction === "our client"
            ? runOurClient(theirUrl, variant)
            : runTheirClient(programs.createClientCommand(url, variant));
        for await (const outcome of outcomes) {
          met.push({ peer: peer.name, sdk: peer.sdk, direction, ...variant, ...outcome });
        }
      }
      allScenarioResults.push(...met);
      log(`${peer.sdk}, ${direction}:`);
      for (const line of renderTable(met)) log(line);
      unexpected += countUnexpectedOutcomes(
        summarizeAsTestReport(met),
        `${peer.name}, ${direction}`,
        expectedFailures,
        log,
      );
    }
  } finally {
    theirs.stdin?.end();
    theirs.kill();
  }
  return unexpected;
}

/** A program that reports no outcome counts as failed. */
async function* runTheirClient(command: ProgramCommand): AsyncGenerator<ScenarioOutcome> {
  const client = spawnPeerProgram(command);
  let count = 0;
  for await (const line of readStdoutLines(client)) {
    count += 1;
    yield JSON.parse(line) as ScenarioOutcome;
  }
  if (client.exitCode === null) await new Promise((resolve) => client.once("exit", resolve));
  if (client.exitCode !== 0)
    yield { scenario: "run", ok: false, detail: `ended with ${client.exitCode} after ${count}` };
}

/** Ignores stderr, because an SDK server logs every error that it returns. */
function spawnPeerProgram([program, ...args]: ProgramCommand): ChildProcess {
  return spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
}

async function readPeerServerUrl(child: ChildProcess, command: ProgramCommand): Promise<string> {
  for await (const line of readStdoutLines(child)) return (JSON.parse(line) as { url: string }).url;
  throw new Error(`${command.join(" ")} exited before it listened`);
}

function readStdoutLines({ stdout }: ChildProcess): AsyncIterable<string> {
  if (!stdout) throw new Error("the program has no output");
  return createInterface({ input: stdout });
}

/** Renders a table with one row for each scenario and one column for each variant. */
function renderTable(results: readonly InteropScenarioResult[]): string[] {
  const width = Math.max(...results.map(({ scenario }) => scenario.length));
  const variants = PROTOCOL_VARIANTS.filter((variant) =>
    results.some((row) => row.version === variant.version && row.binding === variant.binding),
  );
  const head = variants.map(({ binding, version }) => `${binding} ${version}`);
  const lines = [...new Set(results.map(({ scenario }) => scenario))].map((scenario) => {
    const cells = variants.map(({ binding, version }, index) => {
      const row = results.find(
        (one) => one.scenario === scenario && one.binding === binding && one.version === version,
      );
      return (row === undefined ? "–" : row.ok ? "ok" : "FAILED").padEnd(head[index]?.length ?? 0);
    });
    return `  ${scenario.padEnd(width)}  ${cells.join("  ")}`;
  });
  return [`  ${" ".repeat(width)}  ${head.join("  ")}`, ...lines];
}

function summarizeAsTestReport(
  results: readonly InteropScenarioResult[],
): Parameters<typeof countUnexpectedOutcomes>[0] {
  const failed = results.filter(({ ok }) => !ok);
  return {
    passed: results.length - failed.length,
    skipped: 0,
    failed: new Map(
      failed.map(({ binding, version, scenario, detail = "" }) => [
        `${binding} ${version}: ${scenario}`,
        detail,
      ]),
    ),
  };
}
