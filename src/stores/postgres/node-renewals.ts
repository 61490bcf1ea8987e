import type { RenewedNodeRow } from "./statements/leases.ts";

interface WatchedNode {
  readonly renewal: number;
  readonly leaseMs: number;
  readonly holdsTurns: boolean;
  /** Monotonic time in milliseconds at which this node has first read the renewal. */
  readonly seenAt: number;
  /** False until this node has read a second renewal, so that the node may be dead. */
  readonly hasRenewed: boolean;
}

/**
 * The renewals of the other nodes, as this node has read them. A node that has not renewed its leases for the length of
 * its leases is silent. Only the monotonic clock of this process measures this time, because the clock of a database can
 * be set. The same renewal before and after a pause of this process proves that the other node has not renewed meanwhile.
 */
export class NodeRenewals {
  #nodes: ReadonlyMap<string, WatchedNode> = new Map();

  get nodeCount(): number {
    return this.#nodes.size;
  }

  /** Replaces the known nodes with those that the database has. */
  record(rows: readonly RenewedNodeRow[], time: number): void {
    const earlier = this.#nodes;
    this.#nodes = new Map(
      rows.map(({ id, renewal, lease_ms: leaseMs, holds_turns: holdsTurns }) => {
        const known = earlier.get(id);
        const isSame = known?.renewal === renewal;
        const seenAt = isSame ? known.seenAt : time;
        return [
          id,
          {
            renewal,
            leaseMs,
            holdsTurns,
            seenAt,
            hasRenewed: known !== undefined && (!isSame || known.hasRenewed),
          },
        ];
      }),
    );
  }

  /** Returns the nodes that are silent, each with its last renewal. */
  findSilentNodes(time: number): { readonly id: string; readonly renewal: number }[] {
    return [...this.#nodes]
      .filter(([, { seenAt, leaseMs }]) => time - seenAt >= leaseMs)
      .map(([id, { renewal }]) => ({ id, renewal }));
  }

  /** Returns the time in milliseconds after which each node with turns is silent, or has renewed its leases. */
  getTimeUntilKnown(time: number): number {
    const unknown = [...this.#nodes.values()].filter(
      ({ hasRenewed, holdsTurns }) => holdsTurns && !hasRenewed,
    );
    return Math.max(0, ...unknown.map(({ seenAt, leaseMs }) => seenAt + leaseMs - time));
  }
}
