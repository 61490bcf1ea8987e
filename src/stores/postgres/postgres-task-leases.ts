import { randomUUID } from "node:crypto";
import type { ClaimedTask, LogAppend, TaskLease, TaskLeases } from "../../engine/index.ts";
import { getScopeKey } from "../task-owner-scope-key.ts";
import { encodeIdentifier } from "./encode-identifier.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { decodeUnfinishedTaskRow } from "./postgres-task-reader.ts";
import { computeScopeKey } from "./scope-key.ts";
import { CLAIM_LOST_TASKS, CLAIM_TASKS, CLAIM_WAITING_TASKS } from "./statements/claim-tasks.ts";
import { DELETE_NODES } from "./statements/delete-nodes.ts";
import { FIND_LOST_LEASES } from "./statements/find-lost-leases.ts";
import { RELEASE_LEASE } from "./statements/release-lease.ts";
import { RENEW_NODE } from "./statements/renew-node.ts";

/** Interval in milliseconds at which a node that starts agents looks for waiting turns. */
const WAITING_TURN_POLL_MS = 250;
/** Number of renewals per lease period. A node misses two renewals before its leases expire. */
const RENEWALS_PER_LEASE = 3;

/**
 * The leases of one node. The node has one row with the end of all of its leases, on the clock of the database. The row
 * of a task names the node that runs its turn. After the end of the leases, every node can claim the tasks.
 */
export class PostgresTaskLeases implements TaskLeases {
  readonly renewIntervalMs: number;
  readonly waitingTurnPollMs: number = WAITING_TURN_POLL_MS;
  readonly #connection: PostgresConnection;
  /** Id of the node. A process that opens the store again is a new node. */
  #node: string = randomUUID();
  readonly #leaseMs: number;
  #hasOtherNodes = false;
  /** Leases that the node has acquired and not released, to find those that another node claims. */
  readonly #held = new Map<string, TaskLease>();

  constructor(connection: PostgresConnection, leaseMs: number) {
    this.#connection = connection;
    this.#leaseMs = leaseMs;
    this.renewIntervalMs = Math.floor(leaseMs / RENEWALS_PER_LEASE);
  }

  get node(): string {
    return this.#node;
  }

  get holdsLeases(): boolean {
    return this.#held.size > 0;
  }

  /** False if this node was the only living node at its last renewal. */
  get hasOtherNodes(): boolean {
    return this.#hasOtherNodes;
  }

  async claim(agent: string, limit: number, which?: "lost" | "waiting"): Promise<ClaimedTask[]> {
    const statement =
      which === undefined ? CLAIM_TASKS : which === "lost" ? CLAIM_LOST_TASKS : CLAIM_WAITING_TASKS;
    const rows = await this.#connection.query(statement, [this.#node, encodeIdentifier(agent), limit]);
    const claimed = rows.map((row) => ({
      ...decodeUnfinishedTaskRow(row),
      epoch: row.epoch,
      ...(row.is_cancel_requested ? { isCancelRequested: true } : {}),
    }));
    for (const { scope, taskId, epoch } of claimed) this.#hold({ scope, taskId, epoch });
    return claimed;
  }

  /**
   * Extends the leases, also after their end. A lease is lost if another node has claimed the task. A lost lease is
   * part of every result until it is released, because each agent asks separately.
   */
  async renew(): Promise<TaskLease[]> {
    await this.extend();
    const held = [...this.#held.values()];
    if (held.length === 0) return [];
    const rows = await this.#connection.query(FIND_LOST_LEASES, [
      held.map(({ scope }) => computeScopeKey(scope)),
      held.map(({ taskId }) => encodeIdentifier(taskId)),
      held.map(({ epoch }) => epoch),
    ]);
    return rows.flatMap(({ position }) => held[position - 1] ?? []);
  }

  async release(lease: TaskLease): Promise<void> {
    this.#forget(lease);
    const { scope, taskId, epoch } = lease;
    const parameters = [this.#node, computeScopeKey(scope), encodeIdentifier(taskId), epoch] as const;
    await this.#connection.query(RELEASE_LEASE, parameters);
  }

  /** Updates the held leases after a commit. */
  recordCommittedAppends(appends: readonly LogAppend[]): void {
    for (const { scope, taskId, epoch, hasRunningTurn, releasesLease } of appends) {
      if (releasesLease || hasRunningTurn === false) this.#forget({ scope, taskId, epoch });
      else if (hasRunningTurn) this.#hold({ scope, taskId, epoch });
    }
  }

  /** Registers the node with the database, or extends its leases. */
  async extend(): Promise<void> {
    const [row] = await this.#connection.query(RENEW_NODE, [this.#node, this.#leaseMs]);
    this.#hasOtherNodes = row?.has_other_nodes ?? false;
  }

  /** Ends all leases of the node at once, so that other nodes can claim its tasks. */
  async end(): Promise<void> {
    const node = this.#node;
    this.#node = randomUUID();
    this.#held.clear();
    await this.#connection.query(DELETE_NODES, [node]);
  }

  #hold(lease: TaskLease): void {
    const key = toLeaseKey(lease);
    if ((this.#held.get(key)?.epoch ?? 0) <= lease.epoch) this.#held.set(key, lease);
  }

  #forget(lease: TaskLease): void {
    const key = toLeaseKey(lease);
    if (this.#held.get(key)?.epoch === lease.epoch) this.#held.delete(key);
  }
}

function toLeaseKey({ scope, taskId }: TaskLease): string {
  return `${taskId} ${getScopeKey(scope)}`;
}
