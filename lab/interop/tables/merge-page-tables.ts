import type { PageRow, PageTable } from "./page-table.ts";
import { parseRowPeer } from "./result-table.ts";

/**
 * Returns the table of the page after a run. The rows of a peer that ran replace its earlier rows, and the rows of other
 * peers remain. `peers` contains the packages and versions of all peers. Rows of another version of a package remain
 * until all listed versions of the package have rows.
 */
export function mergePageTables(earlier: PageTable, current: PageTable, peers: readonly string[]): PageTable {
  const currentRows = Map.groupBy(current.rows, ({ name }) => parseRowPeer(name));
  const earlierRows = Map.groupBy(earlier.rows, ({ name }) => parseRowPeer(name));
  const rowsByPeer = new Map<string, readonly PageRow[]>([...earlierRows, ...currentRows]);
  const isReplaced = (peer: string): boolean => {
    if (peers.includes(peer)) return false;
    const versions = peers.filter((one) => getPackage(one) === getPackage(peer));
    return versions.every((version) => rowsByPeer.has(version));
  };
  const order = [...earlierRows.keys()];
  /** A new version has the position of the version that it replaces. Other new peers follow at the end. */
  const getPosition = (peer: string): number => {
    const index = order.includes(peer)
      ? order.indexOf(peer)
      : order.findIndex((one) => getPackage(one) === getPackage(peer) && isReplaced(one));
    return index === -1 ? order.length : index;
  };
  const rows = [...rowsByPeer]
    .filter(([peer]) => !isReplaced(peer))
    .toSorted(([one], [other]) => getPosition(one) - getPosition(other))
    .flatMap(([, own]) => own);
  const columns = [...new Set([...earlier.columns, ...current.columns])];
  return { columns: columns.filter((column) => rows.some(({ cells }) => cells.has(column))), rows };
}

/** Returns the name of the package from a name with a version, such as `a2a-go 2.4.0`. */
function getPackage(peer: string): string {
  return peer.slice(0, peer.lastIndexOf(" "));
}
