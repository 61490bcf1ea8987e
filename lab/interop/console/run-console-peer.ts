import { JsonLinesProcess } from "../adk/json-lines-process.ts";
import type { ScenarioServerUrls } from "../frameworks/scenario-servers.ts";
import type { InteropResult } from "../interop-result.ts";
import type { ScenarioOutcome } from "../protocol-variants.ts";
import { startPeerServers } from "../run-sdk-peer.ts";
import type { ProgramCommand } from "../sdk-peers.ts";
import { ConsoleApiClient } from "./console-api-client.ts";
import type { ConsolePeer } from "./console-peers.ts";
import { runAdkConsoleScenarios, runConsoleScenarios } from "./run-console-scenarios.ts";
import { startPeerConsole } from "./start-peer-console.ts";

const TOKEN = "a-token-of-16-characters-or-more";
const START_TIMEOUT_MS = 60_000;

/** Starts a console and the server of a peer, and runs the scenarios of the console. */
export async function* runConsolePeer(
  peer: ConsolePeer,
  command: ProgramCommand,
): AsyncGenerator<InteropResult> {
  const { name, sdk } = peer;
  const console = await startPeerConsole();
  try {
    const api = new ConsoleApiClient(console.url);
    const outcomes = runWithPeerServer(peer, command, {
      runWithSdk: (servers) => runConsoleScenarios(servers, api),
      runWithAdk: (url) => runAdkConsoleScenarios(url, api),
    });
    for await (const outcome of outcomes)
      yield { suite: "console", peer: name, sdk, direction: "our client", ...outcome };
  } finally {
    await console.close();
  }
}

/** The scenarios for the two test agents of the peers. */
interface PeerScenarios {
  readonly runWithSdk: (servers: ScenarioServerUrls) => AsyncIterable<ScenarioOutcome>;
  readonly runWithAdk: (url: string) => AsyncIterable<ScenarioOutcome>;
}

/** Runs scenarios while the server of a peer runs. */
export async function* runWithPeerServer(
  { agent }: ConsolePeer,
  command: ProgramCommand,
  scenarios: PeerScenarios,
): AsyncGenerator<ScenarioOutcome> {
  if (agent === "text-driven") {
    const theirs = await startPeerServers(command, TOKEN);
    try {
      yield* scenarios.runWithSdk(theirs);
    } finally {
      theirs.stop();
    }
    return;
  }
  const theirs = new JsonLinesProcess(command);
  try {
    const { url } = await theirs.read<{ url: string }>(START_TIMEOUT_MS);
    yield* scenarios.runWithAdk(url);
  } finally {
    await theirs.kill();
  }
}
