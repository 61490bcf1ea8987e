import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { CallDirection, InteropResult } from "./interop-result.ts";
import { PROTOCOL_VARIANTS, type ScenarioOutcome } from "./protocol-variants.ts";
import { runOurClient } from "./scenarios.ts";
import type { PeerServerAndClientCommands, ProgramCommand, SdkPeer } from "./sdk-peers.ts";

const CALL_DIRECTIONS = ["their client", "our client"] as const satisfies readonly CallDirection[];

/** Runs all scenarios with an official SDK, in both directions and in all variants that the SDK supports. */
export async function* runSdkPeer(
  peer: SdkPeer,
  programs: PeerServerAndClientCommands,
  ourUrl: string,
): AsyncGenerator<InteropResult> {
  const theirs = spawnPeerProgram(programs.server);
  try {
    const theirUrl = await readFirstUrl(theirs, programs.server);
    for (const direction of CALL_DIRECTIONS) {
      for (const variant of PROTOCOL_VARIANTS.filter(peer.supports)) {
        const outcomes =
          direction === "our client"
            ? runOurClient(theirUrl, variant)
            : runTheirClient(programs.createClientCommand(ourUrl, variant));
        for await (const outcome of outcomes) {
          const { name, sdk } = peer;
          const shared = { suite: "SDKs", peer: name, sdk, direction } as const;
          yield { ...shared, variant: `${variant.binding} ${variant.version}`, ...outcome };
        }
      }
    }
  } finally {
    theirs.stdin?.end();
    theirs.kill();
  }
}

/** A program that reports no outcome counts as failed. */
export async function* runTheirClient(command: ProgramCommand): AsyncGenerator<ScenarioOutcome> {
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
export function spawnPeerProgram([program, ...args]: ProgramCommand): ChildProcess {
  return spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
}

export async function readFirstUrl(child: ChildProcess, command: ProgramCommand): Promise<string> {
  for await (const line of readStdoutLines(child)) return (JSON.parse(line) as { url: string }).url;
  throw new Error(`${command.join(" ")} exited before it listened`);
}

function readStdoutLines({ stdout }: ChildProcess): AsyncIterable<string> {
  if (!stdout) throw new Error("the program has no output");
  return createInterface({ input: stdout });
}
