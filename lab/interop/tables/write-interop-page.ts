import { readFileSync, writeFileSync } from "node:fs";
import type { ExpectedInteropFailure } from "../expected-outcomes.ts";
import type { InteropResult } from "../interop-result.ts";
import { mergePageTables } from "./merge-page-tables.ts";
import { parsePageTable, renderPageTable, toPageTable } from "./page-table.ts";
import { parseRowPeer } from "./result-table.ts";

const PAGE = new URL("../../../docs/interop.md", import.meta.url);

/** A peer that was not available. */
export interface SkippedPeer {
  /** Package and version of the peer. */
  readonly peer: string;
  readonly why: string;
}

/** A run of some peers. */
export interface InteropRun {
  readonly results: readonly InteropResult[];
  readonly skipped: readonly SkippedPeer[];
  /** Date of the run, such as `2026-11-23`. */
  readonly date: string;
  /** Packages and versions of all peers, including the peers that were not chosen for the run. */
  readonly peers: readonly string[];
}

const NO_SKIPPED_PEERS = "All peers were available.";

/** Writes the results of a run into docs/interop.md. */
export function writeInteropPage(run: InteropRun, expected: readonly ExpectedInteropFailure[]): void {
  writeFileSync(PAGE, updateInteropPage(readFileSync(PAGE, "utf8"), run, expected));
}

/** Replaces the tables and the list of skipped peers between the markers of a page. Peers that did not run keep their rows. */
export function updateInteropPage(
  page: string,
  run: InteropRun,
  expected: readonly ExpectedInteropFailure[],
): string {
  const resultsBySuite = Map.groupBy<string, InteropResult>(run.results, ({ suite }) => suite);
  const peersWithRows = new Set<string>();
  const withTables = page.replaceAll(
    /(<!-- table: (.+?) -->\n)([\s\S]*?)(<!-- end -->)/g,
    (_, start: string, suite: string, content: string, end: string) => {
      const current = toPageTable(resultsBySuite.get(suite) ?? [], expected, run.date);
      const table = mergePageTables(parsePageTable(content), current, run.peers);
      for (const { name } of table.rows) peersWithRows.add(parseRowPeer(name));
      return `${start}${renderPageTable(table)}${end}`;
    },
  );
  return withTables.replace(
    /(<!-- skipped -->\n)([\s\S]*?)(<!-- end -->)/,
    (_, start: string, content: string, end: string) =>
      `${start}\n${renderSkippedPeers(parseSkippedPeers(content), run, peersWithRows)}\n\n${end}`,
  );
}

function renderSkippedPeers(
  earlier: readonly SkippedPeer[],
  { results, skipped, peers }: InteropRun,
  peersWithRows: ReadonlySet<string>,
): string {
  const whyByPeer = new Map<string, string>();
  for (const peer of peers) if (!peersWithRows.has(peer)) whyByPeer.set(peer, "it has not run yet");
  for (const { peer, why } of earlier) if (peers.includes(peer)) whyByPeer.set(peer, why);
  for (const { sdk } of results) whyByPeer.delete(sdk);
  for (const { peer, why } of skipped) whyByPeer.set(peer, why);
  const items = [...whyByPeer].map(([peer, why]) => `- ${peer}: ${why}`);
  return items.length > 0 ? items.join("\n") : NO_SKIPPED_PEERS;
}

function parseSkippedPeers(content: string): SkippedPeer[] {
  return [...content.matchAll(/^- (.+?): (.+)$/gm)].map(([, peer = "", why = ""]) => ({ peer, why }));
}
