import type {
  AppendRefusal,
  ClaimedTask,
  LogAppend,
  StoredTask,
  TaskLease,
  TaskScope,
  UnfinishedTask,
} from "../../src/engine/index.ts";
import { MemoryStore } from "../../src/stores/index.ts";
import { computeScopeKey } from "../../src/stores/postgres/scope-key.ts";
import type { ChangedTaskRow } from "../../src/stores/postgres/statements/nodes.ts";
import type { RenewedNodeRow } from "../../src/stores/postgres/statements/leases.ts";
import type { PromiseChecks } from "./promise-checks.ts";
import { SimulatedTaskRequests } from "./simulated-task-requests.ts";
import { SimulatedWebhookLeases } from "./simulated-webhook-leases.ts";

/** Planted faults of the protocol. The simulation must notice each of them. */
export interface DatabaseDefects {
  /** Appends of a writer whose task another node has claimed are accepted. */
  readonly ignoresEpochs?: boolean;
  /** A lease ends on the clock of the database. */
  readonly expiresByDatabaseClock?: boolean;
}

/** The columns of a task that the protocol of leases reads. */
export interface LeaseRow {
  readonly scope: TaskScope;
  readonly taskId: string;
  seq: number;
  epoch: number;
  isRunning: boolean;
  node: string | undefined;
  readonly queuedPositions: Set<number>;
}

interface NodeRow {
  readonly renewal: number;
  readonly leaseMs: number;
  /** Time of the database at which the leases end, which only a defect uses. */
  readonly expiresAt: number;
}

/**
 * The database that the nodes of a simulation share. The logs are in a `MemoryStore`. Nodes and leases follow the
 * statements of `src/stores/postgres`. Each method is one transaction: it is complete before the next step of the
 * simulation.
 */
export class SimulatedDatabase {
  readonly tasks: MemoryStore = new MemoryStore({ maxFinishedTasks: Infinity, maxBytes: Infinity });
  readonly requests: SimulatedTaskRequests;
  readonly webhookLeases: SimulatedWebhookLeases = new SimulatedWebhookLeases({
    tasks: this.tasks,
    isAlive: (node) => this.#isAlive(node),
    findTurnHolder: (scope, taskId) => {
      const lease = this.#leases.get(toTaskKey(computeScopeKey(scope), taskId));
      return lease?.isRunning ? lease : undefined;
    },
  });
  readonly #nodes = new Map<string, NodeRow>();
  readonly #leases = new Map<string, LeaseRow>();
  readonly #getTime: () => number;
  readonly #checks: PromiseChecks | undefined;
  readonly #defects: DatabaseDefects;

  /** `getTime` is the clock of the database, in milliseconds. */
  constructor(getTime: () => number, checks?: PromiseChecks, defects: DatabaseDefects = {}) {
    this.#getTime = getTime;
    this.requests = new SimulatedTaskRequests(getTime, (key) => this.#leases.get(key));
    this.#checks = checks;
    this.#defects = defects;
  }

  async commit(node: string, batch: readonly LogAppend[]): Promise<(AppendRefusal | undefined)[]> {
    const refusals: (AppendRefusal | undefined)[] = [];
    for (const append of batch) refusals.push(await this.#commitAppend(node, append));
    return refusals;
  }

  async #commitAppend(node: string, append: LogAppend): Promise<AppendRefusal | undefined> {
    for (const { messageId, wasQueued } of append.messages)
      if (!wasQueued && (await this.tasks.findMessage(append.scope, messageId))) return "duplicate-message";
    const key = toTaskKey(computeScopeKey(append.scope), append.taskId);
    const known = append.expectedSeq > 0 ? this.#leases.get(key) : undefined;
    if (known && !this.#defects.ignoresEpochs) {
      const isFenced = known.epoch !== append.epoch || (known.isRunning && known.node !== node);
      if (isFenced) return "conflict";
    }
    const [refusal] = await this.tasks.commit([{ ...append, epoch: 0 }]);
    if (refusal !== undefined) return refusal;
    const { scope, taskId, epoch, expectedSeq, events, queueChange } = append;
    const idle = { isRunning: false, node: undefined, queuedPositions: new Set<number>() };
    const lease: LeaseRow = known ?? { scope, taskId, epoch, seq: 0, ...idle };
    lease.seq = expectedSeq + events.length;
    if (append.incrementsEpoch) lease.epoch++;
    for (const { position } of queueChange?.added ?? []) lease.queuedPositions.add(position);
    for (const position of lease.queuedPositions)
      if (position <= (queueChange?.removedThrough ?? 0)) lease.queuedPositions.delete(position);
    lease.isRunning = append.hasRunningTurn ?? lease.isRunning;
    lease.node = lease.isRunning && !append.releasesLease ? node : undefined;
    this.#leases.set(key, lease);
    const webhookIds = append.webhooks?.map(({ config }) => config.id) ?? [];
    const holder = append.releasesLease ? undefined : node;
    if (webhookIds.length > 0) await this.webhookLeases.recordRegistration(holder, append, webhookIds);
    this.#checks?.checkAppend(node, append);
    return undefined;
  }

  async load(node: string, scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    const stored = await this.tasks.load(scope, taskId);
    const lease = this.#leases.get(toTaskKey(computeScopeKey(scope), taskId));
    if (!stored || !lease) return stored;
    const isHeldByOther = this.#isHeldByOther(node, lease);
    return {
      ...stored,
      epoch: lease.epoch,
      awaitsRecovery: lease.isRunning && !isHeldByOther,
      ...(isHeldByOther ? { runsOnOtherNode: true } : {}),
    };
  }

  async isTaskUnchanged(
    scope: TaskScope,
    taskId: string,
    { seq, epoch }: Pick<StoredTask, "seq" | "epoch">,
  ): Promise<boolean> {
    const lease = this.#leases.get(toTaskKey(computeScopeKey(scope), taskId));
    if (!lease || lease.epoch !== epoch || lease.isRunning) return false;
    return await this.tasks.turns.isUnchanged(scope, taskId, { seq, epoch: 0 });
  }

  /** Reads the new events of the tasks whose log or turn status has changed, like `READ_CHANGES`. */
  async readChanges(
    keys: readonly string[],
    after: readonly number[],
    turnStatuses: readonly string[],
    maxBytes: number,
  ): Promise<ChangedTaskRow[]> {
    const rows: ChangedTaskRow[] = [];
    for (const [at, key] of keys.entries()) {
      const lease = this.#leases.get(key);
      const position = at + 1;
      const afterSeq = after[at] ?? 0;
      if (!lease) {
        rows.push({ position, last_seq: null, turn_status: "none", seq: null, lines: null });
        continue;
      }
      const turnStatus = this.#getTurnStatus(lease);
      if (lease.seq === afterSeq && turnStatus === turnStatuses[at]) continue;
      const common = { position, last_seq: lease.seq, turn_status: turnStatus };
      const limit = { events: 512, maxBytes };
      const events = await this.tasks.readEvents(lease.scope, lease.taskId, afterSeq, limit);
      if (events.length === 0) rows.push({ ...common, seq: null, lines: null });
      for (const { seq, jsonText } of events) rows.push({ ...common, seq, lines: jsonText });
    }
    return rows;
  }

  #getTurnStatus({ isRunning, node, queuedPositions }: LeaseRow): string {
    if (isRunning) return node === undefined || this.#isAlive(node) ? "running" : "awaiting-recovery";
    return queuedPositions.size > 0 ? "running" : "none";
  }

  /** Returns the tasks with queued turns, except those whose turn another living node runs. */
  listQueuedTasks(node: string): { readonly scope: TaskScope; readonly taskId: string }[] {
    return [...this.#leases.values()]
      .filter((lease) => lease.queuedPositions.size > 0 && !this.#isHeldByOther(node, lease))
      .map(({ scope, taskId }) => ({ scope, taskId }));
  }

  /** Registers a node, or renews its leases. Returns the other nodes. */
  renewNode(node: string, renewal: number, leaseMs: number): RenewedNodeRow[] {
    this.#nodes.set(node, { renewal, leaseMs, expiresAt: this.#getTime() + leaseMs });
    this.#checks?.recordRenewal(node, leaseMs);
    this.requests.deleteExpired();
    return [...this.#nodes]
      .filter(([id]) => id !== node)
      .map(([id, other]) => ({
        id,
        renewal: other.renewal,
        lease_ms: other.leaseMs,
        holds_turns: [...this.#leases.values()].some((lease) => lease.isRunning && lease.node === id),
      }));
  }

  deleteNode(node: string): void {
    this.#nodes.delete(node);
    this.#checks?.recordNodeEnd(node);
  }

  /** Deletes the nodes that have not renewed their leases since the given renewals. */
  deleteSilentNodes(nodes: readonly string[], renewals: readonly number[]): void {
    for (const [at, node] of nodes.entries())
      if (this.#nodes.get(node)?.renewal === renewals[at]) this.#nodes.delete(node);
  }

  async claim(
    node: string,
    agent: string,
    limit: number,
    which?: "lost" | "waiting",
  ): Promise<ClaimedTask[]> {
    const claimed: ClaimedTask[] = [];
    const isWanted = (lease: LeaseRow): boolean =>
      this.#isClaimable(node, lease) &&
      (which === undefined || (which === "waiting") === (lease.node === undefined));
    // Most claims find nothing.
    if (![...this.#leases.values()].some(isWanted)) return claimed;
    for (const task of await this.tasks.listUnfinished()) {
      if (claimed.length === limit) break;
      const lease = this.#leases.get(toTaskKey(computeScopeKey(task.scope), task.taskId));
      if (!lease || task.scope.agent !== agent || !isWanted(lease)) continue;
      this.#checks?.checkClaim(node, task);
      lease.epoch++;
      lease.node = node;
      const isCancelRequested = this.requests.isCancelRequested(lease);
      claimed.push({ ...task, epoch: lease.epoch, ...(isCancelRequested ? { isCancelRequested } : {}) });
    }
    return claimed;
  }

  /** Returns the positions of the leases that another node has claimed. */
  findLostLeases(keys: readonly string[], epochs: readonly number[]): number[] {
    return keys.flatMap((key, at) =>
      (this.#leases.get(key)?.epoch ?? 0) > (epochs[at] ?? 0) ? [at + 1] : [],
    );
  }

  /** Returns the running tasks whose lease the node holds, except the tasks with the given keys. */
  findForgottenLeases(node: string, knownKeys: readonly string[]): TaskLease[] {
    return [...this.#leases].flatMap(([key, { scope, taskId, epoch, isRunning, node: holder }]) =>
      isRunning && holder === node && !knownKeys.includes(key) ? [{ scope, taskId, epoch }] : [],
    );
  }

  release(node: string, key: string, epoch: number): void {
    const lease = this.#leases.get(key);
    if (!lease || lease.node !== node || lease.epoch !== epoch) return;
    lease.node = undefined;
    this.#checks?.checkRelease(node, lease.taskId);
  }

  /** Deletes the columns of tasks that no longer exist. */
  async removeDeletedTasks(
    tasks: readonly { readonly scope: TaskScope; readonly taskId: string }[],
  ): Promise<void> {
    for (const { scope, taskId } of tasks)
      if (!(await this.tasks.load(scope, taskId)))
        this.#leases.delete(toTaskKey(computeScopeKey(scope), taskId));
  }

  /** Returns the tasks with a running turn that no living node holds. */
  async listAbandonedTasks(): Promise<UnfinishedTask[]> {
    const unfinished = await this.tasks.listUnfinished();
    return unfinished.filter(({ scope, taskId }) => {
      const lease = this.#leases.get(toTaskKey(computeScopeKey(scope), taskId));
      return lease?.isRunning === true && !this.#isAlive(lease.node);
    });
  }

  #isClaimable(claimant: string, { isRunning, node }: LeaseRow): boolean {
    return isRunning && node !== claimant && !this.#isAlive(node);
  }

  /** Returns true for a turn that another living node runs, and for a turn that waits for a node. */
  #isHeldByOther(node: string, lease: LeaseRow): boolean {
    return lease.isRunning && lease.node !== node && (lease.node === undefined || this.#isAlive(lease.node));
  }

  #isAlive(node: string | undefined): boolean {
    const row = node === undefined ? undefined : this.#nodes.get(node);
    return row !== undefined && (!this.#defects.expiresByDatabaseClock || row.expiresAt > this.#getTime());
  }
}

export function toTaskKey(scopeKey: string, encodedTaskId: string): string {
  return `${encodedTaskId} ${scopeKey}`;
}
