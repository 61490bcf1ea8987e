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
import type { PromiseChecks } from "./promise-checks.ts";

/** Planted faults of the protocol. The simulation must notice each of them. */
export interface DatabaseDefects {
  /** Appends of a writer whose task another node has claimed are accepted. */
  readonly ignoresEpochs?: boolean;
  /** A claim compares the end of a lease with the clock of the claiming node. */
  readonly claimsByLocalClock?: boolean;
  /** A lease ends as soon as its node has missed a single renewal. */
  readonly expiresEarly?: boolean;
}

interface LeaseRow {
  readonly scope: TaskScope;
  readonly taskId: string;
  epoch: number;
  isRunning: boolean;
  node: string | undefined;
}

interface NodeRow {
  expiresAt: number;
  leaseMs: number;
}

/**
 * The database that the nodes of a simulation share. The logs are in a `MemoryStore`. Nodes and leases follow the
 * statements of `src/stores/postgres`. Each method is one transaction: it is complete before the next step of the
 * simulation.
 */
export class SimulatedDatabase {
  readonly tasks: MemoryStore = new MemoryStore({ maxFinishedTasks: Infinity, maxBytes: Infinity });
  readonly #nodes = new Map<string, NodeRow>();
  readonly #leases = new Map<string, LeaseRow>();
  readonly #getTime: () => number;
  readonly #checks: PromiseChecks | undefined;
  readonly #defects: DatabaseDefects;

  /** `getTime` is the clock of the database, in milliseconds. */
  constructor(getTime: () => number, checks?: PromiseChecks, defects: DatabaseDefects = {}) {
    this.#getTime = getTime;
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
    const key = toLeaseKey(computeScopeKey(append.scope), append.taskId);
    const known = append.expectedSeq > 0 ? this.#leases.get(key) : undefined;
    if (known && !this.#defects.ignoresEpochs) {
      const isFenced = known.epoch !== append.epoch || (known.isRunning && known.node !== node);
      if (isFenced) return "conflict";
    }
    const [refusal] = await this.tasks.commit([{ ...append, epoch: 0 }]);
    if (refusal !== undefined) return refusal;
    const { scope, taskId, epoch } = append;
    const lease = known ?? { scope, taskId, epoch, isRunning: false, node: undefined };
    lease.isRunning = append.hasRunningTurn ?? lease.isRunning;
    lease.node = lease.isRunning ? node : undefined;
    this.#leases.set(key, lease);
    this.#checks?.checkAppend(node, append);
    return undefined;
  }

  async load(node: string, scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    const stored = await this.tasks.load(scope, taskId);
    const lease = this.#leases.get(toLeaseKey(computeScopeKey(scope), taskId));
    if (!stored || !lease) return stored;
    const isHeldByOther = lease.node !== node && this.#isAlive(lease.node);
    return { ...stored, epoch: lease.epoch, awaitsRecovery: lease.isRunning && !isHeldByOther };
  }

  async isTaskUnchanged(
    scope: TaskScope,
    taskId: string,
    { seq, epoch }: Pick<StoredTask, "seq" | "epoch">,
  ): Promise<boolean> {
    const lease = this.#leases.get(toLeaseKey(computeScopeKey(scope), taskId));
    if (!lease || lease.epoch !== epoch || lease.isRunning) return false;
    return await this.tasks.isTaskUnchanged(scope, taskId, { seq, epoch: 0 });
  }

  /** Registers a node, or extends its leases. */
  renewNode(node: string, leaseMs: number): void {
    const expiresAt = this.#getTime() + leaseMs;
    this.#nodes.set(node, { expiresAt, leaseMs });
    this.#checks?.recordRenewal(node, expiresAt);
  }

  deleteNode(node: string): void {
    this.#nodes.delete(node);
    this.#checks?.recordNodeEnd(node);
  }

  /** Claims tasks of the agent. `localTime` is the clock of the node, which only a defect uses. */
  async claim(node: string, agent: string, limit: number, localTime: number): Promise<ClaimedTask[]> {
    const claimed: ClaimedTask[] = [];
    for (const task of await this.tasks.listUnfinished()) {
      if (claimed.length === limit) break;
      const lease = this.#leases.get(toLeaseKey(computeScopeKey(task.scope), task.taskId));
      if (!lease || task.scope.agent !== agent || !this.#isClaimable(lease, localTime)) continue;
      this.#checks?.checkClaim(node, task);
      lease.epoch++;
      lease.node = node;
      claimed.push({ ...task, epoch: lease.epoch });
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

  /** Returns the tasks with a running turn that no living node holds. */
  async listAbandonedTasks(): Promise<UnfinishedTask[]> {
    const unfinished = await this.tasks.listUnfinished();
    return unfinished.filter(({ scope, taskId }) => {
      const lease = this.#leases.get(toLeaseKey(computeScopeKey(scope), taskId));
      return lease?.isRunning === true && !this.#isAlive(lease.node);
    });
  }

  #isClaimable({ isRunning, node }: LeaseRow, localTime: number): boolean {
    if (!isRunning) return false;
    const row = node === undefined ? undefined : this.#nodes.get(node);
    if (!row) return true;
    const expiresAt = this.#defects.expiresEarly ? row.expiresAt - (row.leaseMs * 5) / 6 : row.expiresAt;
    return expiresAt <= (this.#defects.claimsByLocalClock ? localTime : this.#getTime());
  }

  #isAlive(node: string | undefined): boolean {
    return node !== undefined && (this.#nodes.get(node)?.expiresAt ?? 0) > this.#getTime();
  }
}

export function toLeaseKey(scopeKey: string, encodedTaskId: string): string {
  return `${encodedTaskId} ${scopeKey}`;
}
