/**
 * Tests our server and client against agents and SDKs of other projects: their clients with our server, and
 * our client with their servers. It uses the peers that can be installed, and reports the peers that it
 * skips. A failure that lab/interop/expected.json does not list fails the run. A listed failure that does
 * not occur fails the run, too.
 *
 *   npm run lab -- interop [--only TEXT] [--json] [--page] [--artifacts whole|pieces]
 *
 * `--only` selects the peer whose name is TEXT, or else the peers whose name contains TEXT. Commas separate several
 * texts. `--page` writes the results into the tables of docs/interop.md, where peers that did not run keep their rows.
 * `--artifacts` sets the option of our generator agent; `pieces` compares the peers, and its failures do not fail the run.
 *
 *   npm run lab -- interop --tap [--only TEXT] [--variant TEXT]
 *
 * `--tap` runs the clients of the SDKs with the servers of the SDKs, directly and through `colloquy tap`. An outcome
 * that the tap changes fails the run.
 *
 *   npm run lab -- interop --tap-faults [--only TEXT] [--variant TEXT]
 *
 * `--tap-faults` runs the same clients and servers with each fault switch of the tap. The run fails if the record of the
 * tap does not mark a fault or its result, or marks anything else. `--variant` selects the variants whose name, such as
 * `GRPC 0.3`, contains TEXT.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
} from "../../src/cards/html/browser.fixture.ts";
import { ADK_PEERS, type AdkPeer } from "./adk/adk-peers.ts";
import { OurServersProcess } from "./adk/our-servers-process.ts";
import { runAdkPeer } from "./adk/run-adk-peer.ts";
import { CONSOLE_PEERS, PAGE_PEERS } from "./console/console-peers.ts";
import { runConsolePeer } from "./console/run-console-peer.ts";
import { countUnexpectedResults, type ExpectedInteropFailure } from "./expected-outcomes.ts";
import { FRAMEWORK_PEERS } from "./frameworks/framework-peers.ts";
import { runFrameworkPeer } from "./frameworks/run-framework-peer.ts";
import { startScenarioServers } from "./frameworks/scenario-servers.ts";
import type { InteropResult } from "./interop-result.ts";
import { readMissingFeatures } from "./missing-features.ts";
import { runSdkPeer } from "./run-sdk-peer.ts";
import { runPagePeer } from "./page/run-page-peer.ts";
import { runPairThroughTap, runPairWithFaults, type TappedPair } from "./run-peers-through-tap.ts";
import {
  type PeerServerAndClientCommands,
  type ProgramCommand,
  SDK_PEERS,
  type SdkPeer,
} from "./sdk-peers.ts";
import { renderTextTables } from "./tables/render-text-tables.ts";
import { writeInteropPage, type SkippedPeer } from "./tables/write-interop-page.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    json: { type: "boolean", default: false },
    page: { type: "boolean", default: false },
    artifacts: { type: "string", default: "whole" },
    tap: { type: "boolean", default: false },
    "tap-faults": { type: "boolean", default: false },
    variant: { type: "string", default: "" },
  },
});

const artifacts = values.artifacts === "pieces" ? "pieces" : "whole";
if (values.artifacts !== artifacts) throw new Error(`--artifacts ${values.artifacts}: pass whole or pieces`);
const isComparison = artifacts === "pieces";
if (isComparison && values.page) throw new Error("--page shows the default: omit --artifacts pieces");

const log = (line: string): void => (values.json ? console.error(line) : console.log(line));
const allPeers = [...SDK_PEERS, ...ADK_PEERS, ...FRAMEWORK_PEERS, ...CONSOLE_PEERS, ...PAGE_PEERS];
const isChosen = ({ name }: { readonly name: string }): boolean =>
  values.only
    .split(",")
    .some((text) => (allPeers.some((peer) => peer.name === text) ? name === text : name.includes(text)));
const expectedFailures = JSON.parse(
  readFileSync(new URL("./expected.json", import.meta.url), "utf8"),
) as ExpectedInteropFailure[];
/** Credential of the secured servers behind the tap. */
const TAP_TOKEN = "tap-token-1";
const allScenarioResults: InteropResult[] = [];
const skippedPeers: SkippedPeer[] = [];
let unexpectedOutcomeCount = 0;

if (values["tap-faults"]) process.exit((await runPeersWithFaults()) ? 0 : 1);
if (values.tap) process.exit((await runPeersThroughTap()) ? 0 : 1);

if (SDK_PEERS.some(isChosen)) {
  const servers = await startScenarioServers(artifacts);
  for (const peer of SDK_PEERS.filter(isChosen)) {
    const programs = await peer.installPrograms(log);
    if (typeof programs === "string") skipPeer(peer, programs);
    else await judgePeer(runSdkPeer(peer, programs, servers));
  }
  await servers.close();
}

if (ADK_PEERS.some(isChosen)) {
  const ours = new OurServersProcess(artifacts);
  for (const peer of ADK_PEERS.filter(isChosen)) {
    const program = await peer.installProgram(log);
    if (typeof program === "string") skipPeer(peer, program);
    else await judgePeer(runAdkPeer(peer, program, ours, await findSdkServer(peer.a2aSdk)));
  }
  await ours.stop();
}

if (FRAMEWORK_PEERS.some(isChosen)) {
  const servers = await startScenarioServers(artifacts);
  for (const peer of FRAMEWORK_PEERS.filter(isChosen)) {
    const commands = await peer.installPrograms(log);
    if (typeof commands === "string") skipPeer(peer, commands);
    else await judgePeer(runFrameworkPeer(peer, commands, servers, readMissingFeatures()));
  }
  await servers.close();
}

for (const peer of CONSOLE_PEERS.filter(isChosen)) {
  const command = await peer.installServer(log);
  if (typeof command === "string") skipPeer(peer, command);
  else await judgePeer(runConsolePeer(peer, command));
}

if (PAGE_PEERS.some(isChosen) && findChromium() === undefined)
  for (const peer of PAGE_PEERS.filter(isChosen)) skipPeer(peer, CHROMIUM_MISSING_MESSAGE);
else if (PAGE_PEERS.some(isChosen)) {
  const browser = await launchChromium();
  for (const peer of PAGE_PEERS.filter(isChosen)) {
    const command = await peer.installServer(log);
    if (typeof command === "string") skipPeer(peer, command);
    else await judgePeer(runPagePeer(peer, command, browser));
  }
  await browser.close();
}

if (values.page)
  writeInteropPage(
    {
      results: allScenarioResults,
      skipped: skippedPeers,
      date: new Date().toISOString().slice(0, 10),
      peers: [...new Set(allPeers.map(({ sdk }) => sdk))],
    },
    expectedFailures,
  );
if (values.json)
  console.log(
    JSON.stringify(
      { rows: allScenarioResults, skipped: skippedPeers, surprises: unexpectedOutcomeCount },
      undefined,
      2,
    ),
  );
process.exit(hasRun(allScenarioResults.length) && unexpectedOutcomeCount === 0 ? 0 : 1);

/** Runs the chosen SDKs with each other through the tap. Resolves with true if pairs ran, and the tap changes no outcome. */
async function runPeersThroughTap(): Promise<boolean> {
  let runCount = 0;
  let changeCount = 0;
  for (const tappedPair of await installTappedPairs())
    for await (const result of runPairThroughTap(tappedPair, TAP_TOKEN)) {
      const { pair, variant, scenarios, changed, requests, frames, cuts, undecoded } = result;
      log(
        `${pair} (${variant}): ${scenarios} scenarios, ${changed.length} changed; ${requests} requests, ${frames} frames, ${cuts.length} cuts, ${undecoded.length} undecoded`,
      );
      for (const cause of cuts) log(`  cut ${cause}`);
      for (const text of undecoded) log(`  undecoded: ${text.slice(0, 500)}`);
      for (const change of changed) log(`  ${change}`);
      runCount += 1;
      changeCount += changed.length;
    }
  return hasRun(runCount) && changeCount === 0;
}

/** Runs the chosen SDKs with each fault of the tap. Resolves with true if pairs ran, and the records mark exactly the faults. */
async function runPeersWithFaults(): Promise<boolean> {
  let runCount = 0;
  let failureCount = 0;
  for (const tappedPair of await installTappedPairs())
    for await (const result of runPairWithFaults(tappedPair, TAP_TOKEN)) {
      const { pair, variant, rule, scenarios, failed, faults, problems } = result;
      const injected = Object.entries(faults).map(([fault, count]) => `${count} ${fault}`);
      log(
        `${pair} (${variant}) ${rule}: ${failed} of ${scenarios} scenarios fail; injected ${injected.join(", ") || "nothing"}; ${problems.length} not marked`,
      );
      for (const problem of problems) log(`  ${problem}`);
      runCount += 1;
      if (problems.length > 0 || injected.length === 0) failureCount += 1;
    }
  return hasRun(runCount) && failureCount === 0;
}

/** Returns whether anything ran, and reports otherwise. */
function hasRun(runCount: number): boolean {
  if (runCount === 0) console.error("Nothing ran: check --only and --variant, and the reasons above.");
  return runCount > 0;
}

/** Installs the chosen SDKs, and returns each pair of a client and a server. */
async function installTappedPairs(): Promise<TappedPair[]> {
  const installed: { readonly peer: SdkPeer; readonly programs: PeerServerAndClientCommands }[] = [];
  for (const peer of SDK_PEERS.filter(isChosen)) {
    const programs = await peer.installPrograms(log);
    if (typeof programs === "string") skipPeer(peer, programs);
    else installed.push({ peer, programs });
  }
  return installed.flatMap(({ peer: server, programs: serverPrograms }) =>
    installed.map(({ peer: client, programs: clientPrograms }) => ({
      client,
      clientPrograms,
      server,
      serverPrograms,
      isChosen: ({ binding, version }) => `${binding} ${version}`.includes(values.variant),
    })),
  );
}

async function judgePeer(outcomes: AsyncIterable<InteropResult>): Promise<void> {
  const met: InteropResult[] = [];
  try {
    for await (const outcome of outcomes) met.push(outcome);
  } catch (error) {
    log(`A program of the peer failed: ${error instanceof Error ? error.message : String(error)}`);
    unexpectedOutcomeCount += 1;
  }
  allScenarioResults.push(...met);
  for (const line of renderTextTables(met)) log(line);
  if (!isComparison) unexpectedOutcomeCount += countUnexpectedResults(met, expectedFailures, log);
}

/** Returns the command of the test agent of an A2A SDK, if the SDK can be installed. */
async function findSdkServer(a2aSdk: AdkPeer["a2aSdk"]): Promise<ProgramCommand | undefined> {
  const programs = await SDK_PEERS.find(({ name }) => name === a2aSdk?.name)?.installPrograms(log);
  if (!a2aSdk || typeof programs !== "object" || !programs.server) return undefined;
  return [...programs.server, ...a2aSdk.serverArguments];
}

function skipPeer({ name, sdk }: { readonly name: string; readonly sdk: string }, why: string): void {
  skippedPeers.push({ peer: sdk, why });
  log(`${name} (${sdk}): left out, because ${why}`);
}
