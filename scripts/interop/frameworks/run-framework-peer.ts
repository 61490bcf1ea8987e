import type { InteropResult } from "../interop-result.ts";
import type { ScenarioOutcome } from "../protocol-variants.ts";
import { readFirstUrl, runTheirClient, spawnPeerProgram } from "../run-sdk-peer.ts";
import type { FrameworkCommands, FrameworkPeer } from "./framework-peers.ts";
import { runOurClientWithFramework } from "./our-client-scenarios.ts";
import type { ScenarioServerUrls } from "./scenario-servers.ts";

/** Runs the scenarios of a framework: its client with our server, and our client with its server. */
export async function* runFrameworkPeer(
  { name, sdk }: FrameworkPeer,
  { client, server }: FrameworkCommands,
  { url, securedUrl, token }: ScenarioServerUrls,
): AsyncGenerator<InteropResult> {
  const shared = { suite: "frameworks", peer: name, sdk } as const;
  if (client) {
    const outcomes: AsyncIterable<ScenarioOutcome> = runTheirClient([...client, url, securedUrl, token]);
    for await (const outcome of outcomes) yield { ...shared, direction: "their client", ...outcome };
  }
  if (!server) return;
  const theirs = spawnPeerProgram(server);
  try {
    for await (const outcome of runOurClientWithFramework(await readFirstUrl(theirs, server))) {
      yield { ...shared, direction: "our client", ...outcome };
    }
  } finally {
    theirs.stdin?.end();
    theirs.kill();
  }
}
