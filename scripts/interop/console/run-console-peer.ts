import { createMountedConsole } from "../../../src/cli/serve/serve-console.ts";
import { createServer } from "../../../src/server/index.ts";
import { JsonLinesProcess } from "../adk/json-lines-process.ts";
import type { InteropResult } from "../interop-result.ts";
import type { ScenarioOutcome } from "../protocol-variants.ts";
import { startPeerServers } from "../run-sdk-peer.ts";
import type { ProgramCommand } from "../sdk-peers.ts";
import { ConsoleApiClient } from "./console-api-client.ts";
import type { ConsolePeer } from "./console-peers.ts";
import { runAdkConsoleScenarios, runConsoleScenarios } from "./run-console-scenarios.ts";

const TOKEN = "a-token-of-16-characters-or-more";
const START_TIMEOUT_MS = 60_000;

/** Starts a console and the server of a peer, and runs the scenarios of the console. */
export async function* runConsolePeer(
  { name, sdk, agent }: ConsolePeer,
  command: ProgramCommand,
): AsyncGenerator<InteropResult> {
  const { console, serverOptions, renderUrl } = createMountedConsole({
    mode: "console",
    name: "interop",
    host: "127.0.0.1",
    isAuthenticated: false,
  });
  const server = createServer({}, { ...serverOptions, store: "memory" });
  try {
    const api = new ConsoleApiClient(renderUrl((await server.listen()).url));
    const outcomes = agent === "scripted" ? runWithAdk(command, api) : runWithSdk(command, api);
    for await (const outcome of outcomes)
      yield { suite: "console", peer: name, sdk, direction: "our client", ...outcome };
  } finally {
    console.close();
    await server.close({ graceMs: 0 });
  }
}

async function* runWithSdk(command: ProgramCommand, api: ConsoleApiClient): AsyncGenerator<ScenarioOutcome> {
  const theirs = await startPeerServers(command, TOKEN);
  try {
    yield* runConsoleScenarios(theirs, api);
  } finally {
    theirs.stop();
  }
}

async function* runWithAdk(command: ProgramCommand, api: ConsoleApiClient): AsyncGenerator<ScenarioOutcome> {
  const theirs = new JsonLinesProcess(command);
  try {
    const { url } = await theirs.read<{ url: string }>(START_TIMEOUT_MS);
    yield* runAdkConsoleScenarios(url, api);
  } finally {
    await theirs.kill();
  }
}
