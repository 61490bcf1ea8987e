import { defineOptionNames } from "../usage-checks/index.ts";
import { OrderedQueue, SlotReuseMap } from "../data-structures/index.ts";
import type {
  LogAppend,
  AppendRefusal,
  ClaimedTask,
  StoredTask,
  TaskLease,
  TaskLeases,
  QueuedTurnData,
  DeletableTask,
  StoppedTaskQuery,
  StoreSize,
  TaskDeletionStore,
  TaskSelector,
  TurnRestartData,
  TaskListCursor,
  TaskListPage,
  TaskListQuery,
  PushStore,
  TaskScope,
  TaskStore,
  UnfinishedTask,
} from "../engine/index.ts";
import {
  isInterrupted,
  isTerminal,
  copyTask,
  type LogEvent,
  type Task,
  type TaskState,
} from "../protocol/index.ts";
import { MemoryPushStore } from "./memory-push-store.ts";
import { deleteInOrder } from "./delete-in-order.ts";
import { foldLoggedEvents } from "./fold-logged-events.ts";
import { PROCESS_LEASE_RENEW_INTERVAL_MS } from "./process-lease.ts";
import { getScopeKey } from "./task-owner-scope-key.ts";

const COPY_ON_APPEND_MAX_LOG_LENGTH = 16;
const NO_QUEUED_TURNS: readonly QueuedTurnData[] = [];

/** A task's event log, and a `Task` that reflects the first events of the log. */
interface TaskLog {
  readonly scopeData: ScopeData;
  readonly taskId: string;
  readonly contextId: string;
  /**
   * Each append to a short log creates a new array, because an array that grows by `push` reserves up to
   * four times the required memory.
   */
  events: LogEvent[];
  /** Ids of the caller's messages in the log. */
  messageIds: string[];
  state: TaskState;
  timestamp: string;
  turn: TurnRestartData | undefined;
  queuedTurns: readonly QueuedTurnData[];
  epoch: number;
  hasRunningTurn: boolean;
  /** True while this process holds the lease of the task. */
  isLeased: boolean;
  task: Task | undefined;
  foldedCount: number;
  /** Number of events at the start of the log that the store has deleted. They are missing in `events`. */
  deletedCount: number;
  /** Position in the order in which tasks ended or started to wait. */
  stopOrder: number;
  /** Size of the events in characters of JSON, if the store measures sizes. */
  size: number;
}

/** The tasks and messages of one scope. */
interface ScopeData {
  readonly scope: TaskScope;
  readonly key: string;
  readonly logs: SlotReuseMap<TaskLog>;
  readonly messages: SlotReuseMap<{ taskId: string; seq: number }>;
}

export interface MemoryStoreOptions {
  /** Maximum number of finished tasks that the store keeps, or `Infinity`. Default: 10,000. */
  readonly maxFinishedTasks?: number;
}

const assertKnownOptions = defineOptionNames<MemoryStoreOptions>()("MemoryStore", "maxFinishedTasks");

/**
 * Stores tasks in the memory of the process. If the number of finished tasks exceeds `maxFinishedTasks`, the
 * store evicts the task that finished first. The messages of the evicted task are also removed. Unfinished
 * tasks are never evicted.
 */
export class MemoryStore implements TaskStore {
  readonly name = "memory";
  readonly usesSnapshots = false;
  readonly #scopes = new Map<string, ScopeData>();
  readonly #pushStore = new MemoryPushStore((scope, taskId) => {
    const log = this.#findLog(scope, taskId);
    return log && { seq: getLastSeq(log), state: log.state };
  });
  readonly pushStore: PushStore = this.#pushStore;
  readonly leases: TaskLeases = {
    renewIntervalMs: PROCESS_LEASE_RENEW_INTERVAL_MS,
    claim: async (agent, limit) => this.#claim(agent, limit),
    renew: async () => [],
    release: async (lease) => this.#release(lease),
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
        const log = this.#findLog(scope, taskId);
        if (log) this.#deleteTask(log);
        return true;
      }),
    deleteRemnants: async () => false,
    measureSize: async () => this.#measureSize(),
    returnFreeSpace: async () => false,
    flushDeletions: async () => {},
  };
  readonly #maxFinishedTasks: number;
  readonly #endedLogs = new OrderedQueue<TaskLog>();
  readonly #waitingLogs = new Set<TaskLog>();
  #lastStopOrder = 0;
  /** Total size of all events, or `undefined` before the first measurement. */
  #totalSize: number | undefined;
  #lastUsedScope: ScopeData | undefined;

  constructor(options: MemoryStoreOptions = {}) {
    assertKnownOptions(options);
    const { maxFinishedTasks = 10_000 } = options;
    if (!(Number.isInteger(maxFinishedTasks) || maxFinishedTasks === Infinity) || maxFinishedTasks < 1) {
      throw new RangeError(`maxFinishedTasks is ${maxFinishedTasks}; it must be an integer of at least 1.`);
    }
    this.#maxFinishedTasks = maxFinishedTasks;
  }

  /** Ends all leases. A server that opens the store recovers the running turns of the previous server. */
  async open(): Promise<void> {
    for (const log of this.#listRunningLogs()) log.isLeased = false;
  }

  async close(): Promise<void> {}

  async commit(batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> {
    return batch.map((append) => this.#appendEvents(append));
  }

  async load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    const log = this.#findLog(scope, taskId);
    if (!log) return undefined;
    const { epoch, hasRunningTurn: awaitsRecovery, queuedTurns } = log;
    const stored = { task: foldCurrentTask(log), seq: getLastSeq(log), epoch, awaitsRecovery };
    return queuedTurns.length > 0 ? { ...stored, queuedTurns } : stored;
  }

  async readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    const log = this.#findLog(scope, taskId);
    if (!log || after < log.deletedCount) return [];
    const start = after - log.deletedCount;
    const events = log.events.slice(start, start + limit.events);
    let bytes = 0;
    const last = events.findIndex((event) => (bytes += Buffer.byteLength(event.jsonText)) > limit.maxBytes);
    return last === -1 ? events : events.slice(0, last + 1);
  }

  async list(
    scope: TaskScope,
    { contextId, status, statusSince, after, limit }: TaskListQuery,
  ): Promise<TaskListPage> {
    const matches: TaskLog[] = [];
    for (const log of this.#findScopeData(scope)?.logs.values() ?? []) {
      if (contextId !== undefined && log.contextId !== contextId) continue;
      if (status !== undefined && log.state !== status) continue;
      if (statusSince !== undefined && log.timestamp < statusSince) continue;
      matches.push(log);
    }
    const remaining = after ? matches.filter((log) => compareListOrder(log, after) > 0) : matches;
    remaining.sort(compareListOrder);
    return {
      tasks: remaining.slice(0, limit).map(foldCurrentTask),
      hasMore: remaining.length > limit,
      total: matches.length,
    };
  }

  async findMessage(
    scope: TaskScope,
    messageId: string,
  ): Promise<{ taskId: string; seq: number } | undefined> {
    return this.#findScopeData(scope)?.messages.get(messageId);
  }

  async listUnfinished(): Promise<UnfinishedTask[]> {
    return this.#listRunningLogs().map(toUnfinishedTask);
  }

  #listRunningLogs(): TaskLog[] {
    return [...this.#scopes.values()].flatMap(({ logs }) =>
      [...logs.values()].filter(({ hasRunningTurn }) => hasRunningTurn),
    );
  }

  #claim(agent: string, limit: number): ClaimedTask[] {
    const claimable = this.#listRunningLogs().filter(
      ({ isLeased, scopeData }) => !isLeased && scopeData.scope.agent === agent,
    );
    return claimable.slice(0, limit).map((log) => {
      log.isLeased = true;
      log.epoch++;
      return { ...toUnfinishedTask(log), epoch: log.epoch };
    });
  }

  #release({ scope, taskId, epoch }: TaskLease): void {
    const log = this.#findLog(scope, taskId);
    if (log?.epoch === epoch) log.isLeased = false;
  }

  async listTasksWithQueuedTurns(): Promise<{ scope: TaskScope; taskId: string }[]> {
    return [...this.#scopes.values()].flatMap(({ scope, logs }) =>
      [...logs.values()].flatMap(({ taskId, queuedTurns }) =>
        queuedTurns.length > 0 ? { scope, taskId } : [],
      ),
    );
  }

  #findLog(scope: TaskScope, taskId: string): TaskLog | undefined {
    return this.#findScopeData(scope)?.logs.get(taskId);
  }

  #appendEvents({
    scope,
    taskId,
    contextId,
    expectedSeq,
    events,
    status,
    messages,
    webhooks,
    turn,
    queueChange,
    epoch,
    hasRunningTurn,
  }: LogAppend): AppendRefusal | undefined {
    const scopeData = this.#getScopeData(scope);
    const known = scopeData.logs.get(taskId);
    if ((known ? getLastSeq(known) : 0) !== expectedSeq || (known?.epoch ?? 0) !== epoch) return "conflict";
    if (hasKnownOrRepeatedMessageId(scopeData, messages)) return "duplicate-message";
    const log: TaskLog = known ?? {
      scopeData,
      taskId,
      contextId,
      events: [],
      messageIds: [],
      state: status.state,
      timestamp: status.timestamp,
      turn: undefined,
      queuedTurns: NO_QUEUED_TURNS,
      epoch,
      hasRunningTurn: false,
      isLeased: false,
      task: undefined,
      foldedCount: 0,
      deletedCount: 0,
      stopOrder: 0,
      size: 0,
    };
    if (!known) {
      scopeData.logs.insertNew(taskId, log);
      this.#scopes.set(scopeData.key, scopeData);
    }
    appendEventsToMemoryTaskLog(log, events, messages);
    for (const { messageId, seq, wasQueued } of messages) {
      if (wasQueued) scopeData.messages.set(messageId, { taskId, seq });
      else scopeData.messages.insertNew(messageId, { taskId, seq });
    }
    if (turn !== undefined) log.turn = turn ?? undefined;
    if (queueChange) {
      const { added, removedThrough = 0 } = queueChange;
      log.queuedTurns = [...log.queuedTurns, ...added].filter(({ position }) => position > removedThrough);
    }
    if (hasRunningTurn !== undefined) log.hasRunningTurn = log.isLeased = hasRunningTurn;
    if (this.#totalSize !== undefined) this.#countSize(log, events);
    if (log.state !== status.state && this.#waitingLogs.size > 0) this.#waitingLogs.delete(log);
    log.state = status.state;
    log.timestamp = status.timestamp;
    if (webhooks)
      for (const webhook of webhooks) this.#pushStore.register(scope, taskId, expectedSeq, webhook);
    this.#pushStore.notifyCommit(scope, taskId, expectedSeq + events.length);
    if (isTerminal(status.state)) this.#addEndedTask(log);
    else if (isInterrupted(status.state)) this.#addWaitingTask(log);
    return undefined;
  }

  /**
   * Returns the data of a scope. The store caches the data of the most recent scope, because consecutive
   * requests often come from the same caller.
   */
  #findScopeData(scope: TaskScope): ScopeData | undefined {
    const lastUsed = this.#lastUsedScope;
    if (lastUsed && isSameScope(lastUsed.scope, scope)) return lastUsed;
    const scopeData = this.#scopes.get(getScopeKey(scope));
    if (scopeData) this.#lastUsedScope = scopeData;
    return scopeData;
  }

  #getScopeData(scope: TaskScope): ScopeData {
    return (
      this.#findScopeData(scope) ?? {
        scope,
        key: getScopeKey(scope),
        logs: new SlotReuseMap(),
        messages: new SlotReuseMap(),
      }
    );
  }

  #addEndedTask(log: TaskLog): void {
    log.stopOrder = ++this.#lastStopOrder;
    this.#endedLogs.push(log.stopOrder, log);
    if (this.#endedLogs.size <= this.#maxFinishedTasks) return;
    const evicted = this.#endedLogs.findFirst();
    if (evicted) this.#deleteTask(evicted);
  }

  #addWaitingTask(log: TaskLog): void {
    // A new status moves the task to the end of the set.
    this.#waitingLogs.delete(log);
    log.stopOrder = ++this.#lastStopOrder;
    this.#waitingLogs.add(log);
  }

  #deleteTask(log: TaskLog): void {
    const { scopeData, taskId, messageIds } = log;
    this.#endedLogs.remove(log.stopOrder);
    this.#waitingLogs.delete(log);
    if (this.#totalSize !== undefined) this.#totalSize -= log.size;
    scopeData.logs.delete(taskId);
    this.#pushStore.removeTask(scopeData.scope, taskId);
    for (const messageId of messageIds) scopeData.messages.delete(messageId);
    if (scopeData.logs.size > 0) return;
    this.#scopes.delete(scopeData.key);
    this.#lastUsedScope = undefined;
  }

  #deleteEvents(scope: TaskScope, taskId: string): void {
    const log = this.#findLog(scope, taskId);
    if (!log) return;
    foldCurrentTask(log);
    log.deletedCount = log.foldedCount;
    log.events = [];
    if (this.#totalSize === undefined) return;
    const size = JSON.stringify(log.task).length;
    this.#totalSize += size - log.size;
    log.size = size;
  }

  #listStoppedTasks({ status, before, after, limit }: StoppedTaskQuery): DeletableTask[] {
    const found: DeletableTask[] = [];
    const logs = status === "ended" ? this.#endedLogs.valuesAfter(after?.key ?? 0) : this.#waitingLogs;
    for (const log of logs) {
      if (found.length >= limit) break;
      // After the wall clock was set back, a later task can have an earlier status.
      if (log.timestamp < before && log.stopOrder > (after?.key ?? 0)) found.push(this.#toDeletableTask(log));
    }
    return found;
  }

  #findMatchingTasks(
    { taskId, contextId, principal, tenant, agent }: TaskSelector,
    limit: number,
  ): DeletableTask[] {
    const found: DeletableTask[] = [];
    for (const { scope, logs } of this.#scopes.values()) {
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

  #toDeletableTask(log: TaskLog): DeletableTask {
    const { scopeData, taskId, state, timestamp, stopOrder } = log;
    const { scope } = scopeData;
    return {
      key: stopOrder,
      scope,
      taskId,
      state,
      timestamp,
      hasEvents: log.events.length > 0,
      hasPendingWebhooks: this.#pushStore.hasPendingWebhooks(scope, taskId),
    };
  }

  /** The first call measures all tasks. After the first call, each append updates the total size. */
  #measureSize(): StoreSize {
    if (this.#totalSize === undefined) {
      this.#totalSize = 0;
      for (const { logs } of this.#scopes.values())
        for (const log of logs.values()) this.#countSize(log, log.events);
    }
    return { usedBytes: this.#totalSize, freeBytes: 0, canShrink: false };
  }

  #countSize(log: TaskLog, events: readonly LogEvent[]): void {
    let size = 0;
    for (const event of events) size += event.jsonText.length;
    log.size += size;
    this.#totalSize = (this.#totalSize ?? 0) + size;
  }
}

function getLastSeq({ events, deletedCount }: TaskLog): number {
  return deletedCount + events.length;
}

function toUnfinishedTask(log: TaskLog): UnfinishedTask {
  const { scopeData, taskId, contextId, state, timestamp, turn } = log;
  const task = { scope: scopeData.scope, taskId, contextId, seq: getLastSeq(log), state, timestamp };
  return turn ? { ...task, turn } : task;
}

function isSameScope(a: TaskScope, b: TaskScope): boolean {
  return a.principal === b.principal && a.tenant === b.tenant && a.agent === b.agent;
}

function appendEventsToMemoryTaskLog(
  log: TaskLog,
  events: readonly LogEvent[],
  messages: LogAppend["messages"],
): void {
  if (log.events.length < COPY_ON_APPEND_MAX_LOG_LENGTH) log.events = [...log.events, ...events];
  else for (const event of events) log.events.push(event);
  for (const { messageId, wasQueued } of messages)
    if (!wasQueued) log.messageIds = [...log.messageIds, messageId];
}

function hasKnownOrRepeatedMessageId(
  { messages: known }: ScopeData,
  messages: LogAppend["messages"],
): boolean {
  return messages.some(
    ({ messageId, wasQueued }, at) =>
      !wasQueued && (known.has(messageId) || messages.findIndex((m) => m.messageId === messageId) < at),
  );
}

/** Returns a copy of the current task. The store folds events only when a task is loaded. */
function foldCurrentTask(log: TaskLog): Task {
  log.task = foldLoggedEvents(log.task, log.events.slice(log.foldedCount - log.deletedCount));
  log.foldedCount = getLastSeq(log);
  return copyTask(log.task as Task);
}

/**
 * Compares positions in a task list, which is sorted by status time and task id, both in descending order.
 */
function compareListOrder(a: TaskListCursor, b: TaskListCursor): number {
  if (a.timestamp !== b.timestamp) return a.timestamp > b.timestamp ? -1 : 1;
  if (a.taskId === b.taskId) return 0;
  return a.taskId > b.taskId ? -1 : 1;
}
