import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./install-programs.ts";
import type { InteropResult } from "./interop-result.ts";

const RESULTS_FILE = join(repositoryRoot, "node_modules/.cache/colloquy-interop/page-results.json");

/** A peer that was not available. */
export interface SkippedPeer {
  readonly peer: string;
  readonly why: string;
}

interface PeerResults {
  /** Package and version of the peer. */
  readonly sdk: string;
  readonly results: readonly InteropResult[];
}

/**
 * Stores the results of the peers that ran, and returns the latest results of all peers with their current
 * versions. So `--page` can run in pieces.
 */
export function mergePageResults(
  peers: readonly { readonly name: string; readonly sdk: string }[],
  results: readonly InteropResult[],
): { readonly results: InteropResult[]; readonly missing: SkippedPeer[] } {
  const stored: Record<string, PeerResults> = existsSync(RESULTS_FILE)
    ? (JSON.parse(readFileSync(RESULTS_FILE, "utf8")) as Record<string, PeerResults>)
    : {};
  for (const [name, own] of Map.groupBy(results, ({ peer }) => peer)) {
    stored[name] = { sdk: own[0]?.sdk ?? "", results: own };
  }
  writeFileSync(RESULTS_FILE, JSON.stringify(stored));
  const known = peers.filter(({ name, sdk }) => stored[name]?.sdk === sdk);
  return {
    results: known.flatMap(({ name }) => stored[name]?.results ?? []),
    missing: peers
      .filter((peer) => !known.includes(peer))
      .map(({ sdk }) => ({ peer: sdk, why: "it has not run yet" })),
  };
}
