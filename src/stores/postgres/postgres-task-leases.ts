import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type {
  AppendRefusal,
  ClaimedTask,
  FinishedStep,
  LogAppend,
  StoredTask,
  StoreGauges,
  TaskLease,
  TaskScope,
  TurnStore,
} from "../../engine/index.ts";
import { decodeUnfinishedTask } from "../stored-rows.ts";
import { getTaskKey, toScope } from "../task-owner-scope-key.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { computeScopeKey } from "./scope-key.ts";
import * as statements from "./statements/leases.ts";
import type { RenewedNodeRow } from "./statements/leases.ts";

/** Interval in milliseconds at which a node that starts agents looks for waiting turns. */
const WAITING_TURN_POLL_MS = 250;
/** Part of the lease period after which a node that cannot renew its leases stops its turns. */
const FENCE_AFTER = 0.8;
/**
 * Number of renewals per lease period. A node misses five renewals before its leases end. At each renewal, a node reads the
 * renewals of the others, and then claims the tasks of dead nodes, so a task waits at most two sixths longer than a period.
 */
const RENEWALS_PER_LEASE = 6;

/**
 * The leases of one node. The node has one row with the number of its last renewal. The row of a task names the node that
 * runs its turn. Another node that has seen no renewal for the length of a lease, on its own monotonic clock, deletes the
 * row of the node. Every node can then claim the tasks.
 */
export class PostgresTaskLeases implements TurnStore {
  readonly renewIntervalMs: number;
  readonly waitingTurnPollMs: number = WAITING_TURN_POLL_MS;
  readonly #connection: PostgresConnection;
  /** Id of the node. A process that opens the store again is a new node. */
  #node: string = randomUUID();
  readonly leaseMs: number;
  readonly #getMonotonicTime: () => number;
  /** Number of the last renewal. No two renewals of a node have the same number. */
  #renewalCount = 0;
  readonly #otherNodes = new NodeRenewals();
  #hasOtherNodes = false;
  #waitingTurnCount = 0;
  /** Monotonic time in milliseconds at which the last successful renewal was requested. */
  #renewedAt = -Infinity;
  /** Leases that the node has acquired and not released, to find those that another node claims. */
  readonly #held = new Map<string, TaskLease>();
  /** Leases that the node has possibly not acquired, because the result of the commit was lost. */
  readonly #uncertain = new WeakSet<TaskLease>();
  #claimCount = 0;
  /** Claims without a result, which may have acquired leases. */
  #pendingClaimCount = 0;
  /** Batches without a result, whose turns may have begun. */
  readonly #pendingCommits = new Set<readonly LogAppend[]>();
  /** Epochs of the leases that the last renewal has found and the node does not know. */
  #unknownEpochs = new Map<string, number>();

  /** `getMonotonicTime` returns the monotonic time of the process in milliseconds. */
  constructor(
    connection: PostgresConnection,
    leaseMs: number,
    getMonotonicTime: () => number = () => performance.now(),
  ) {
    this.#connection = connection;
    this.leaseMs = leaseMs;
    this.#getMonotonicTime = getMonotonicTime;
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

  /** Reports a sign of life of another node, before the next renewal counts the living nodes. */
  reportOtherNode(): void {
    this.#hasOtherNodes = true;
  }

  async claim(agent: string, limit: number, which?: "lost" | "waiting"): Promise<ClaimedTask[]> {
    const { CLAIM_TASKS, CLAIM_LOST_TASKS, CLAIM_WAITING_TASKS } = statements;
    const statement =
      which === undefined ? CLAIM_TASKS : which === "lost" ? CLAIM_LOST_TASKS : CLAIM_WAITING_TASKS;
    await this.#ensureRegistered();
    this.#pendingClaimCount++;
    const rows = await this.#connection
      .query(statement, [this.#node, agent, limit])
      .finally(() => this.#pendingClaimCount--);
    const claimed = rows.map((row) => ({
      ...decodeUnfinishedTask(row),
      epoch: row.epoch,
      ...(row.isCancelRequested ? { isCancelRequested: true } : {}),
    }));
    this.#claimCount += claimed.length;
    for (const { scope, taskId, epoch } of claimed) this.#hold({ scope, taskId, epoch });
    return claimed;
  }

  /**
   * Extends the leases, also after their end. A lease is lost if another node has claimed the task. A lost lease is
   * part of every result until it is released, because each agent asks separately.
   */
  async renew(): Promise<TaskLease[]> {
    await this.extend();
    await this.#releaseForgottenLeases();
    const held = [...this.#held.values()];
    if (held.length === 0) return [];
    const rows = await this.#connection.query(statements.FIND_LOST_LEASES, [
      held.map(({ scope }) => computeScopeKey(scope)),
      held.map(({ taskId }) => taskId),
      held.map(({ epoch }) => epoch),
    ]);
    return rows
      .flatMap(({ position }) => held[position - 1] ?? [])
      .filter((lease) => this.#isStillHeld(lease));
  }

  getTimeUntilFence(): number {
    return this.#renewedAt + FENCE_AFTER * this.leaseMs - this.#getMonotonicTime();
  }

  async watchOtherNodes(): Promise<void> {
    for (;;) {
      const waitMs = this.#otherNodes.getTimeUntilKnown(this.#getMonotonicTime());
      if (waitMs === 0) return;
      await pause(Math.min(waitMs, this.renewIntervalMs));
      await this.extend();
    }
  }

  /**
   * The statement can arrive late, because a partition delays it. The statement cannot release the lease of a later turn,
   * which has a higher epoch. But if the start of a turn was not committed, the next turn has the epoch that this turn
   * would have. The node therefore looks for a lease first, unless it certainly has acquired the lease.
   */
  async release(lease: TaskLease): Promise<void> {
    const key = toLeaseKey(lease);
    const held = this.#held.get(key);
    const isCertain = held?.epoch === lease.epoch && !this.#uncertain.has(held);
    this.#forget(lease);
    if (isCertain || (await this.#findUnknownLeases()).get(key)?.epoch === lease.epoch)
      await this.#releaseAcquired(lease);
  }

  async #releaseAcquired(lease: TaskLease): Promise<void> {
    const { scope, taskId, epoch } = lease;
    const parameters = [this.#node, computeScopeKey(scope), taskId, epoch] as const;
    await this.#connection.query(statements.RELEASE_LEASE, parameters);
  }

  async isUnchanged(
    scope: TaskScope,
    taskId: string,
    { seq, epoch }: Pick<StoredTask, "seq" | "epoch">,
  ): Promise<boolean> {
    const parameters = [computeScopeKey(scope), taskId, seq, epoch] as const;
    return (await this.#connection.query(statements.IS_TASK_UNCHANGED, parameters)).length > 0;
  }

  async readSteps(scope: TaskScope, taskId: string, turnSeq: number): Promise<FinishedStep[]> {
    const parameters = [computeScopeKey(scope), taskId, turnSeq] as const;
    const rows = await this.#connection.query(statements.READ_STEPS, parameters);
    return rows.map((step) => ({ turnSeq, ...step }));
  }

  async listQueued(): Promise<{ scope: TaskScope; taskId: string }[]> {
    const rows = await this.#connection.query(statements.LIST_QUEUED_TASKS, [this.#node]);
    return rows.map((row) => ({ scope: toScope(row), taskId: row.taskId }));
  }

  /** Runs a commit, and updates the held leases. */
  async recordCommit(
    batch: readonly LogAppend[],
    commit: () => Promise<readonly (AppendRefusal | undefined)[]>,
  ): Promise<readonly (AppendRefusal | undefined)[]> {
    this.#pendingCommits.add(batch);
    try {
      if (batch.some(({ hasRunningTurn }) => hasRunningTurn)) await this.#ensureRegistered();
      const refusals = await commit();
      for (const [at, append] of batch.entries()) if (refusals[at] === undefined) this.#recordAppend(append);
      return refusals;
    } catch (error) {
      // The database may have committed, and a repetition of the commit is refused. A lease that the node does not
      // hold ends with the failure of its turn.
      for (const append of batch) if (append.hasRunningTurn) this.#recordAppend(append, true);
      throw error;
    } finally {
      this.#pendingCommits.delete(batch);
    }
  }

  #recordAppend(append: LogAppend, isUncertain = false): void {
    const { scope, taskId, epoch, hasRunningTurn, releasesLease, incrementsEpoch } = append;
    if (releasesLease || hasRunningTurn === false) this.#forget({ scope, taskId, epoch });
    else if (hasRunningTurn) {
      const lease = { scope, taskId, epoch: incrementsEpoch ? epoch + 1 : epoch };
      if (isUncertain) this.#uncertain.add(lease);
      this.#hold(lease);
    }
  }

  /**
   * Releases the leases that the database has for this node and the node does not know. A claim whose result was lost
   * leaves such a lease, and no other node could claim its task while this node is alive. Only a lease that two
   * renewals have found is released, because a result can be on its way.
   */
  async #releaseForgottenLeases(): Promise<void> {
    const unknown = await this.#findUnknownLeases();
    // A claim without a result may have acquired the leases.
    const forgotten = this.#pendingClaimCount > 0 ? [] : [...unknown];
    const earlierEpochs = this.#unknownEpochs;
    this.#unknownEpochs = new Map(forgotten.map(([key, { epoch }]) => [key, epoch]));
    for (const [key, lease] of forgotten)
      if (earlierEpochs.get(key) === lease.epoch) await this.#releaseAcquired(lease);
  }

  /** Finds the leases in the database that the node neither holds nor acquires with a commit without a result. */
  async #findUnknownLeases(): Promise<Map<string, TaskLease>> {
    const held = [...this.#held.values()];
    const rows = await this.#connection.query(statements.FIND_FORGOTTEN_LEASES, [
      this.#node,
      held.map(({ scope }) => computeScopeKey(scope)),
      held.map(({ taskId }) => taskId),
    ]);
    const unknown = rows
      .map((row) => ({ scope: toScope(row), taskId: row.taskId, epoch: row.epoch }))
      .filter((lease) => !this.#held.has(toLeaseKey(lease)) && !this.#isCommitting(lease, true));
    return new Map(unknown.map((lease) => [toLeaseKey(lease), lease]));
  }

  /**
   * Returns false if a commit of this node has released the lease during the query, or may have released it. Such a
   * commit can also increment the epoch. If another node has claimed the task instead, the store refuses the commit.
   */
  #isStillHeld(lease: TaskLease): boolean {
    const isCurrent = this.#held.get(toLeaseKey(lease)) === lease;
    return isCurrent && !this.#isCommitting(lease, false);
  }

  /** Returns true if a commit without a result changes `hasRunningTurn` of the task to the value. */
  #isCommitting({ taskId }: TaskLease, hasRunningTurn: boolean): boolean {
    return [...this.#pendingCommits].some((batch) =>
      batch.some((append) => append.taskId === taskId && append.hasRunningTurn === hasRunningTurn),
    );
  }

  /**
   * Registers the node again before it begins a turn, if it has not renewed its leases in time. Another node may have
   * deleted its row, so that every node could claim the turn at once.
   */
  async #ensureRegistered(): Promise<void> {
    if (this.getTimeUntilFence() <= 0) await this.extend();
  }

  /** Registers the node with the database, or extends its leases. */
  async extend(): Promise<void> {
    const requestedAt = this.#getMonotonicTime();
    const rows = await this.#connection.query(statements.RENEW_NODE, [
      this.#node,
      ++this.#renewalCount,
      this.leaseMs,
    ]);
    this.#renewedAt = Math.max(this.#renewedAt, requestedAt);
    this.#otherNodes.record(
      rows.filter((row): row is typeof row & statements.RenewedNodeRow => row.id !== null),
      this.#getMonotonicTime(),
    );
    this.#hasOtherNodes = this.#otherNodes.nodeCount > 0;
    this.#waitingTurnCount = rows[0]?.waiting_turns ?? 0;
    const silent = this.#otherNodes.findSilentNodes(this.#getMonotonicTime());
    if (silent.length === 0) return;
    await this.#connection.query(statements.DELETE_SILENT_NODES, [
      silent.map(({ id }) => id),
      silent.map(({ renewal }) => renewal),
    ]);
  }

  readGauges(): StoreGauges["leases"] {
    return {
      held: this.#held.size,
      durationMs: this.leaseMs,
      sinceRenewalMs: performance.now() - this.#renewedAt,
      claimed: this.#claimCount,
      waiting: this.#waitingTurnCount,
    };
  }

  /** Ends all leases of the node at once, so that other nodes can claim its tasks. */
  async end(): Promise<void> {
    const node = this.#node;
    this.#node = randomUUID();
    this.#held.clear();
    this.#renewedAt = -Infinity;
    await this.#connection.query(statements.DELETE_NODE, [node]);
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
  return getTaskKey(scope, taskId);
}

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
class NodeRenewals {
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
