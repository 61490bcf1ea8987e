import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { ScenarioServerUrls } from "./frameworks/scenario-servers.ts";
import type { CallDirection, InteropResult } from "./interop-result.ts";
import { PROTOCOL_VARIANTS, type ProtocolVariant, type ScenarioOutcome } from "./protocol-variants.ts";
import { runOurClient } from "./scenarios.ts";
import type { PeerServerAndClientCommands, ProgramCommand, SdkPeer } from "./sdk-peers.ts";

/** Runs all scenarios with an official SDK, in both directions and in all variants that the SDK supports. */
export async function* runSdkPeer(
  peer: SdkPeer,
  programs: PeerServerAndClientCommands,
  { url, securedUrl, token }: ScenarioServerUrls,
): AsyncGenerator<InteropResult> {
  const label = async function* (
    direction: CallDirection,
    { binding, version }: ProtocolVariant,
    outcomes: AsyncIterable<ScenarioOutcome>,
  ): AsyncGenerator<InteropResult> {
    const shared = { suite: "SDKs", peer: peer.name, sdk: peer.sdk, direction } as const;
    for await (const outcome of outcomes) yield { ...shared, variant: `${binding} ${version}`, ...outcome };
  };
  const variants = PROTOCOL_VARIANTS.filter(peer.supports);
  for (const variant of variants) {
    const client = programs.createClientCommand?.(url, variant);
    if (client) yield* label("their client", variant, runTheirClient([...client, securedUrl, token]));
  }
  if (!programs.server) return;
  const theirs = await startPeerServers(programs.server, token);
  try {
    for (const variant of variants) yield* label("our client", variant, runOurClient(theirs, variant));
  } finally {
    theirs.stop();
  }
}

/** Starts the server of a peer twice: for everybody, and for callers with a bearer token (`--token TOKEN`). */
export async function startPeerServers(
  command: ProgramCommand,
  token: string,
): Promise<ScenarioServerUrls & { stop(): void }> {
  const commands = [command, [...command, "--token", token]] as const;
  const programs = commands.map(spawnPeerProgram);
  const stop = (): void => {
    for (const program of programs) {
      program.stdin?.end();
      program.kill();
    }
  };
  try {
    const [url = "", securedUrl = ""] = await Promise.all(
      programs.map((program) => readFirstUrl(program, command)),
    );
    return { url, securedUrl, token, stop };
  } catch (error) {
    stop();
    throw error;
  }
}

/** A program that reports no outcome counts as failed. `signal` ends a program that takes too long. */
export async function* runTheirClient(
  command: ProgramCommand,
  signal?: AbortSignal,
): AsyncGenerator<ScenarioOutcome> {
  const client = spawnPeerProgram(command);
  signal?.addEventListener("abort", () => client.kill("SIGKILL"), { once: true });
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

async function readFirstUrl(child: ChildProcess, command: ProgramCommand): Promise<string> {
  for await (const line of readStdoutLines(child)) return (JSON.parse(line) as { url: string }).url;
  throw new Error(`${command.join(" ")} exited before it listened`);
}

function readStdoutLines({ stdout }: ChildProcess): AsyncIterable<string> {
  if (!stdout) throw new Error("the program has no output");
  return createInterface({ input: stdout });
}
