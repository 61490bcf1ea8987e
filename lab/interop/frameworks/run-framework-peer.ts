import type { CallDirection, InteropResult } from "../interop-result.ts";
import { markMissingFeatures, type MissingFeature } from "../missing-features.ts";
import type { ScenarioOutcome } from "../protocol-variants.ts";
import { runTheirClient, startPeerServers } from "../run-sdk-peer.ts";
import type { FrameworkCommands, FrameworkPeer } from "./framework-peers.ts";
import { runOurClientWithFramework } from "./our-client-scenarios.ts";
import type { ScenarioServerUrls } from "./scenario-servers.ts";

/** Runs the scenarios of a framework: its client with our server, and our client with its server. */
export async function* runFrameworkPeer(
  { name, sdk }: FrameworkPeer,
  { client, server }: FrameworkCommands,
  { url, securedUrl, token }: ScenarioServerUrls,
  missingFeatures: readonly MissingFeature[],
): AsyncGenerator<InteropResult> {
  const label = (
    direction: CallDirection,
    outcomes: AsyncIterable<ScenarioOutcome>,
  ): AsyncGenerator<InteropResult> =>
    markMissingFeatures({ suite: "frameworks", peer: name, sdk, direction }, outcomes, missingFeatures);
  if (client) yield* label("their client", runTheirClient([...client, url, securedUrl, token]));
  if (!server) return;
  const theirs = await startPeerServers(server, token);
  try {
    yield* label("our client", runOurClientWithFramework(theirs));
  } finally {
    theirs.stop();
  }
}
