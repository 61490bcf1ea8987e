import { SwapRemoveSet } from "../base/data-structures/index.ts";
import { defineOptionNames } from "../base/usage-checks/index.ts";
import type {
  LogAppend,
  AppendRefusal,
  ClaimedTask,
  StoredTask,
  TaskLease,
  TurnStore,
  TaskListPage,
  TaskListQuery,
  TaskScope,
  TaskStore,
  UnfinishedTask,
} from "../engine/index.ts";
import type { PushStore } from "../webhooks/index.ts";
import type {
  DeletableTask,
  StoppedTaskQuery,
  StoreEvictions,
  SweepClockRecord,
  TaskDeletionStore,
  TaskSelector,
} from "./task-deletion-store.ts";
import { isTerminal, type LogEvent } from "../protocol/index.ts";
import { iterateLoggedEvents, takeEventPage } from "./logged-events.ts";
import { MemoryPushStore } from "./memory-push-store.ts";
import { deleteInOrder } from "./delete-in-order.ts";
import { listMemoryTasks } from "./list-memory-tasks.ts";
import { createMemoryTaskOverview } from "./memory-task-overview.ts";
import type { MemoryTextIndex } from "./memory-text-index.ts";
import { MemoryScopeRegistry } from "./memory-scope-registry.ts";
import {
  appendToMemoryTaskLog,
  createMemoryTaskLog,
  foldCurrentTask,
  iterateRowsAfter,
  measureStoppedTask,
  replaceEventsWithTask,
  updateMemoryTaskStatus,
  type MemoryScopeData,
  type MemoryTaskLog,
} from "./memory-task-log.ts";
import { PROCESS_LEASE_RENEW_INTERVAL_MS } from "./process-lease.ts";
import { isStopped, StoppedMemoryTasks } from "./stopped-memory-tasks.ts";
import type { ServerStore, TaskOverview } from "./server-store.ts";

const DEFAULT_MAX_FINISHED_TASKS = 10_000;
const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;
const NO_EVICTIONS: StoreEvictions = { endedTasks: 0, waitingTasks: 0 };

export interface MemoryStoreOptions {
  /** Maximum number of finished tasks that the store keeps, or `Infinity`. Default: 10,000. */
  readonly maxFinishedTasks?: number;
  /**
   * Maximum size in bytes of the tasks that have ended or that wait for their user, or `Infinity`. The size
   * includes an estimate of 1,000 bytes per task for its index entries. Default: 256 MiB.
   */
  readonly maxBytes?: number;
}

const assertKnownOptions = defineOptionNames<MemoryStoreOptions>()(
  "MemoryStore",
  "maxBytes maxFinishedTasks",
);

/**
 * Stores tasks in the memory of the process. The events of an append are one text, which costs the garbage collector
 * little.
 *
 * Each commit observes `maxFinishedTasks` and `maxBytes`. The store first evicts the tasks that ended first, and
 * then the tasks that have waited longest. The messages and webhooks of an evicted task are also removed. The
 * store never evicts running tasks, tasks with queued messages, and the task that stopped last.
 */
export class MemoryStore implements ServerStore {
  readonly name = "memory";
  readonly #scopes = new MemoryScopeRegistry();
  readonly #stoppedTasks: StoppedMemoryTasks;
  /** Tasks with a running turn without a lease, and tasks with queued turns. */
  readonly #recoverableTasks = new SwapRemoveSet<MemoryTaskLog>();
  readonly #pushStore = new MemoryPushStore((scope) => this.#scopes.find(scope));
  readonly pushStore: PushStore = this.#pushStore;
  #textIndex: MemoryTextIndex | undefined;
  readonly overview: TaskOverview = createMemoryTaskOverview(
    this.#scopes,
    () => this.#textIndex,
    () => this.#startTextIndex(),
  );
  readonly turns: TurnStore = {
    renewIntervalMs: PROCESS_LEASE_RENEW_INTERVAL_MS,
    claim: async (agent, limit) => this.#claim(agent, limit),
    renew: async () => [],
    release: async (lease) => this.#release(lease),
    listQueued: async () => this.#listQueued(),
    isUnchanged: async (scope, taskId, { seq, epoch }) => {
      const log = this.#scopes.findLog(scope, taskId);
      if (!log || log.hasRunningTurn || log.queuedTurns.length > 0) return false;
      return log.seq === seq && log.epoch === epoch;
    },
    readSteps: async (scope, taskId, turnSeq) => {
      const steps = this.#scopes.findLog(scope, taskId)?.steps ?? [];
      return steps.filter((step) => step.turnSeq === turnSeq);
    },
  };
  readonly deletionStore: TaskDeletionStore = {
    listStoppedTasks: async (query) => this.#listStoppedTasks(query),
    findMatchingTasks: async (selector, limit) => this.#findMatchingTasks(selector, limit),
    deleteEvents: async (tasks, options) =>
      deleteInOrder(tasks, options, ({ scope, taskId }) => {
        this.#deleteEvents(scope, taskId);
        return true;
      }),
    deleteTasks: async (tasks, options) =>
      deleteInOrder(tasks, options, ({ scope, taskId }) => {
        const log = this.#scopes.findLog(scope, taskId);
        if (log) this.#deleteTask(log);
        return true;
      }),
    deleteRemnants: async () => false,
    measureSize: async () => ({ usedBytes: this.#stoppedTasks.totalSize, freeBytes: 0 }),
    returnFreeSpace: async () => false,
    flushDeletions: async () => {},
    sweepClock: {
      read: async () => ({ record: this.#sweepClockRecord }),
      write: async (record) => void (this.#sweepClockRecord = record),
    },
    takeEvictions: () => {
      const evictions = this.#evictions;
      this.#evictions = NO_EVICTIONS;
      return evictions;
    },
  };
  #sweepClockRecord: SweepClockRecord | undefined;
  /** Evictions since the last call of `takeEvictions`. */
  #evictions: StoreEvictions = NO_EVICTIONS;

  constructor(options: MemoryStoreOptions = {}) {
    assertKnownOptions(options);
    const { maxFinishedTasks = DEFAULT_MAX_FINISHED_TASKS, maxBytes = DEFAULT_MAX_BYTES } = options;
    if (!(Number.isInteger(maxFinishedTasks) || maxFinishedTasks === Infinity) || maxFinishedTasks < 1)
      throw new RangeError(`maxFinishedTasks is ${maxFinishedTasks}; it must be an integer of at least 1.`);
    if (!(maxBytes > 0)) throw new RangeError(`maxBytes is ${maxBytes}; it must be greater than 0.`);
    this.#stoppedTasks = new StoppedMemoryTasks({ maxFinishedTasks, maxBytes });
  }

  /** Ends all leases. A server that opens the store recovers the running turns of the previous server. */
  async open(): Promise<void> {
    for (const log of this.#scopes.listLogs()) {
      log.isLeased = false;
      this.#updateRecoverableTasks(log);
    }
  }

  async close(): Promise<void> {}

  async commit(batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> {
    return batch.map((append) => this.#appendEvents(append));
  }

  async load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    const log = this.#scopes.findLog(scope, taskId);
    if (!log) return undefined;
    const { epoch, hasRunningTurn: awaitsRecovery, queuedTurns } = log;
    const stored = { task: foldCurrentTask(log), seq: log.seq, epoch, awaitsRecovery };
    return queuedTurns.length > 0 ? { ...stored, queuedTurns } : stored;
  }

  async readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    const log = this.#scopes.findLog(scope, taskId);
    return log ? takeEventPage(iterateLoggedEvents(iterateRowsAfter(log, after), after), after, limit) : [];
  }

  async list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage> {
    const scopeData = this.#scopes.find(scope);
    return scopeData ? listMemoryTasks(scopeData, query) : { tasks: [], hasMore: false, total: 0 };
  }

  findMessage(scope: TaskScope, messageId: string): ReturnType<TaskStore["findMessage"]> {
    return this.#scopes.find(scope)?.messages.get(messageId);
  }

  /** Resolves with all tasks of all scopes that have a running turn. */
  async listUnfinished(): Promise<UnfinishedTask[]> {
    return [...this.#scopes.listLogs()].filter(({ hasRunningTurn }) => hasRunningTurn).map(toUnfinishedTask);
  }

  #claim(agent: string, limit: number): ClaimedTask[] {
    const claimable = this.#recoverableTasks
      .toArray()
      .filter((log) => hasClaimableTurn(log) && log.scopeData.scope.agent === agent);
    return claimable.slice(0, limit).map((log) => {
      log.isLeased = true;
      log.epoch++;
      this.#updateRecoverableTasks(log);
      return { ...toUnfinishedTask(log), epoch: log.epoch };
    });
  }

  #release({ scope, taskId, epoch }: TaskLease): void {
    const log = this.#scopes.findLog(scope, taskId);
    if (log?.epoch !== epoch) return;
    log.isLeased = false;
    this.#updateRecoverableTasks(log);
  }

  #updateRecoverableTasks(log: MemoryTaskLog): void {
    if (hasClaimableTurn(log) || log.queuedTurns.length > 0) this.#recoverableTasks.add(log);
    else this.#recoverableTasks.delete(log);
  }

  #listQueued(): { scope: TaskScope; taskId: string }[] {
    return this.#recoverableTasks
      .toArray()
      .flatMap(({ scopeData, taskId, queuedTurns }) =>
        queuedTurns.length > 0 ? { scope: scopeData.scope, taskId } : [],
      );
  }

  #appendEvents(append: LogAppend): AppendRefusal | undefined {
    const { scope, taskId, expectedSeq, messages, webhooks, epoch } = append;
    const scopeData = this.#scopes.findOrCreate(scope);
    const known = scopeData.logs.get(taskId);
    if ((known ? known.seq : 0) !== expectedSeq || (known?.epoch ?? 0) !== epoch) return "conflict";
    if (hasKnownOrRepeatedMessageId(scopeData, messages)) return "duplicate-message";
    const log = known ?? createMemoryTaskLog(scopeData, append);
    if (known) {
      this.#stoppedTasks.remove(known);
      updateMemoryTaskStatus(known, append.status);
    } else this.#scopes.addLog(log);
    appendToMemoryTaskLog(log, append);
    this.#updateRecoverableTasks(log);
    for (const { messageId, seq, wasQueued } of messages) {
      if (wasQueued) scopeData.messages.set(messageId, { taskId, seq });
      else scopeData.messages.insertNew(messageId, { taskId, seq });
    }
    if (webhooks) for (const webhook of webhooks) this.#pushStore.register(log, expectedSeq, webhook);
    if (!log.hasRunningTurn) this.#textIndex?.indexTask(log);
    if (!isStopped(log)) return undefined;
    this.#stoppedTasks.add(log, measureStoppedTask(log));
    this.#evictTasksAboveLimits();
    return undefined;
  }

  async #startTextIndex(): Promise<void> {
    const { MemoryTextIndex: TextIndex } = await import("./memory-text-index.ts");
    if (this.#textIndex) return;
    const textIndex = new TextIndex();
    this.#textIndex = textIndex;
    for (const log of this.#scopes.listLogs()) {
      if (log.hasRunningTurn) continue;
      textIndex.indexTask(log);
      this.#stoppedTasks.resize(log, measureStoppedTask(log));
    }
    this.#evictTasksAboveLimits();
  }

  #evictTasksAboveLimits(): void {
    for (;;) {
      const evicted = this.#stoppedTasks.findTaskToEvict();
      if (!evicted) return;
      const { endedTasks, waitingTasks } = this.#evictions;
      this.#evictions = isTerminal(evicted.state)
        ? { endedTasks: endedTasks + 1, waitingTasks }
        : { endedTasks, waitingTasks: waitingTasks + 1 };
      this.#deleteTask(evicted);
    }
  }

  #deleteTask(log: MemoryTaskLog): void {
    this.#stoppedTasks.remove(log);
    this.#recoverableTasks.delete(log);
    this.#scopes.removeLog(log);
    this.#pushStore.removeTask(log);
  }

  #deleteEvents(scope: TaskScope, taskId: string): void {
    const log = this.#scopes.findLog(scope, taskId);
    if (!log) return;
    replaceEventsWithTask(log);
    this.#stoppedTasks.resize(log, measureStoppedTask(log));
  }

  #listStoppedTasks(query: StoppedTaskQuery): DeletableTask[] {
    return this.#stoppedTasks.list(query).map((log) => this.#toDeletableTask(log));
  }

  #findMatchingTasks(
    { taskId, contextId, principal, tenant, agent }: TaskSelector,
    limit: number,
  ): DeletableTask[] {
    const found: DeletableTask[] = [];
    for (const { scope, logs } of this.#scopes.listScopes()) {
      if ((principal ?? scope.principal) !== scope.principal) continue;
      if ((tenant ?? scope.tenant) !== scope.tenant) continue;
      if ((agent ?? scope.agent) !== scope.agent) continue;
      for (const log of logs.values()) {
        if ((taskId ?? log.taskId) !== log.taskId || (contextId ?? log.contextId) !== log.contextId) continue;
        if (found.length >= limit) return found;
        found.push(this.#toDeletableTask(log));
      }
    }
    return found;
  }

  #toDeletableTask(log: MemoryTaskLog): DeletableTask {
    const { scopeData, taskId, state, timestamp, stopOrder } = log;
    const { scope } = scopeData;
    return {
      key: stopOrder,
      scope,
      taskId,
      state,
      timestamp,
      hasEvents: log.rows.length > 0,
      hasPendingWebhooks: this.#pushStore.hasPendingWebhooks(log),
    };
  }
}

function hasClaimableTurn({ hasRunningTurn, isLeased }: MemoryTaskLog): boolean {
  return hasRunningTurn && !isLeased;
}

function toUnfinishedTask(log: MemoryTaskLog): UnfinishedTask {
  const { scopeData, taskId, contextId, state, timestamp, turn } = log;
  const task = { scope: scopeData.scope, taskId, contextId, seq: log.seq, state, timestamp };
  return turn ? { ...task, turn } : task;
}

function hasKnownOrRepeatedMessageId(
  { messages: known }: MemoryScopeData,
  messages: LogAppend["messages"],
): boolean {
  return messages.some(
    ({ messageId, wasQueued }, at) =>
      !wasQueued && (known.has(messageId) || messages.findIndex((m) => m.messageId === messageId) < at),
  );
}
