import { SlotMap } from "../data-structures/index.ts";
import type {
  LogAppend,
  AppendRefusal,
  PersistedTurn,
  TaskListCursor,
  TaskListPage,
  TaskListQuery,
  PushStore,
  TaskScope,
  TaskStore,
  UnfinishedTask,
} from "../engine/index.ts";
import { isTerminal, copyTask, type LogEvent, type Task, type TaskState } from "../protocol/index.ts";
import { MemoryPushStore } from "./memory-push-store.ts";
import { replayEvents } from "./replay.ts";
import { getScopeKey } from "./scope-key.ts";

const SHORT_LOG_LENGTH = 16;

/** One task: its log, and as much of it as was folded so far. */
interface TaskLog {
  readonly scopeData: ScopeData;
  readonly taskId: string;
  readonly contextId: string;
  /** Replaced, not pushed to, by the few appends of a short task: a grown array would keep four times the room. */
  events: LogEvent[];
  /** Ids of the caller's messages in the log. */
  messageIds: string[];
  state: TaskState;
  timestamp: string;
  turn: PersistedTurn | undefined;
  task: Task | undefined;
  foldedCount: number;
}

/** All that one scope owns. */
interface ScopeData {
  readonly scope: TaskScope;
  readonly key: string;
  readonly logs: SlotMap<TaskLog>;
  readonly messages: SlotMap<{ taskId: string; seq: number }>;
}

export interface MemoryStoreOptions {
  /** How many finished tasks are kept: 10,000 unless told. */
  readonly maxFinishedTasks?: number;
}

/**
 * Tasks in the memory of this process; they end with it. Bounded: beyond `maxFinishedTasks` the task that finished
 * longest ago is forgotten with its messages, and reads find nothing. Unfinished tasks are never forgotten.
 */
export class MemoryStore implements TaskStore {
  readonly name = "memory";
  readonly usesSnapshots = false;
  readonly #scopes = new Map<string, ScopeData>();
  readonly #pushStore = new MemoryPushStore((scope, taskId) => {
    const log = this.#findLog(scope, taskId);
    return log && { seq: log.events.length, state: log.state };
  });
  readonly pushStore: PushStore = this.#pushStore;
  readonly #maxFinishedTasks: number;
  /** A ring: the slot of `#oldest` is the next to be taken. */
  readonly #finishedRing: TaskLog[] = [];
  #ringIndex = 0;
  #lastUsedScope: ScopeData | undefined;

  constructor({ maxFinishedTasks = 10_000 }: MemoryStoreOptions = {}) {
    if (!Number.isInteger(maxFinishedTasks) || maxFinishedTasks < 1) {
      throw new RangeError(`maxFinishedTasks is ${maxFinishedTasks}; make it a whole number of at least 1.`);
    }
    this.#maxFinishedTasks = maxFinishedTasks;
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {}

  async commit(batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> {
    return batch.map((append) => this.#appendEvents(append));
  }

  async load(scope: TaskScope, taskId: string): Promise<{ task: Task; seq: number } | undefined> {
    const log = this.#findLog(scope, taskId);
    return log && { task: foldCurrentTask(log), seq: log.events.length };
  }

  async readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    const events = this.#findLog(scope, taskId)?.events.slice(after, after + limit.events) ?? [];
    let bytes = 0;
    const last = events.findIndex((event) => (bytes += Buffer.byteLength(event.json)) > limit.maxBytes);
    return last === -1 ? events : events.slice(0, last + 1);
  }

  async list(
    scope: TaskScope,
    { contextId, status, statusSince: since, after, limit }: TaskListQuery,
  ): Promise<TaskListPage> {
    const matches: TaskLog[] = [];
    for (const log of this.#findScopeData(scope)?.logs.values() ?? []) {
      if (contextId !== undefined && log.contextId !== contextId) continue;
      if (status !== undefined && log.state !== status) continue;
      if (since !== undefined && log.timestamp < since) continue;
      matches.push(log);
    }
    const behind = after ? matches.filter((log) => compareListOrder(log, after) > 0) : matches;
    behind.sort(compareListOrder);
    return {
      tasks: behind.slice(0, limit).map(foldCurrentTask),
      hasMore: behind.length > limit,
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
    const tasks: UnfinishedTask[] = [];
    for (const { scope, logs } of this.#scopes.values()) {
      for (const { taskId, contextId, events, state, timestamp, turn } of logs.values()) {
        if (state === "TASK_STATE_SUBMITTED" || state === "TASK_STATE_WORKING") {
          const task = { scope, taskId, contextId, seq: events.length, state, timestamp };
          tasks.push(turn ? { ...task, turn } : task);
        }
      }
    }
    return tasks;
  }

  #findLog(scope: TaskScope, taskId: string): TaskLog | undefined {
    return this.#findScopeData(scope)?.logs.get(taskId);
  }

  #appendEvents({
    scope,
    taskId,
    contextId,
    expectedSeq: after,
    events,
    status,
    messages,
    webhooks,
    turn,
  }: LogAppend): AppendRefusal | undefined {
    const owner = this.#getScopeData(scope);
    const known = owner.logs.get(taskId);
    if ((known?.events.length ?? 0) !== after) return "conflict";
    if (hasDuplicateMessage(owner, messages)) return "duplicate-message";
    const log: TaskLog = known ?? {
      scopeData: owner,
      taskId,
      contextId,
      events: [],
      messageIds: [],
      state: status.state,
      timestamp: status.timestamp,
      turn: undefined,
      task: undefined,
      foldedCount: 0,
    };
    if (!known) {
      owner.logs.insertNew(taskId, log);
      this.#scopes.set(owner.key, owner);
    }
    appendToLog(log, events, messages);
    for (const { messageId, seq } of messages) owner.messages.insertNew(messageId, { taskId, seq });
    if (turn !== undefined) log.turn = turn ?? undefined;
    log.state = status.state;
    log.timestamp = status.timestamp;
    if (webhooks) for (const webhook of webhooks) this.#pushStore.register(scope, taskId, after, webhook);
    if (isTerminal(status.state)) this.#addFinished(log);
    return undefined;
  }

  /** What a scope owns. Most requests come from the same few callers, one of them just before. */
  #findScopeData(scope: TaskScope): ScopeData | undefined {
    const newest = this.#lastUsedScope;
    if (newest && isSameScope(newest.scope, scope)) return newest;
    const owned = this.#scopes.get(getScopeKey(scope));
    if (owned) this.#lastUsedScope = owned;
    return owned;
  }

  #getScopeData(scope: TaskScope): ScopeData {
    return (
      this.#findScopeData(scope) ?? {
        scope,
        key: getScopeKey(scope),
        logs: new SlotMap(),
        messages: new SlotMap(),
      }
    );
  }

  #addFinished(log: TaskLog): void {
    const forgotten = this.#finishedRing[this.#ringIndex];
    this.#finishedRing[this.#ringIndex] = log;
    this.#ringIndex = (this.#ringIndex + 1) % this.#maxFinishedTasks;
    if (forgotten) this.#evict(forgotten);
  }

  #evict({ scopeData: owner, taskId, messageIds }: TaskLog): void {
    owner.logs.delete(taskId);
    this.#pushStore.removeTask(owner.scope, taskId);
    for (const messageId of messageIds) owner.messages.delete(messageId);
    if (owner.logs.size > 0) return;
    this.#scopes.delete(owner.key);
    this.#lastUsedScope = undefined;
  }
}

function isSameScope(a: TaskScope, b: TaskScope): boolean {
  return a.principal === b.principal && a.tenant === b.tenant && a.agent === b.agent;
}

function appendToLog(log: TaskLog, events: readonly LogEvent[], messages: LogAppend["messages"]): void {
  if (log.events.length < SHORT_LOG_LENGTH) log.events = [...log.events, ...events];
  else for (const event of events) log.events.push(event);
  if (messages.length > 0)
    log.messageIds = [...log.messageIds, ...messages.map(({ messageId }) => messageId)];
}

function hasDuplicateMessage({ messages: known }: ScopeData, messages: LogAppend["messages"]): boolean {
  return messages.some(
    ({ messageId }, at) => known.has(messageId) || messages.findIndex((m) => m.messageId === messageId) < at,
  );
}

/** Folds what was appended since the last time: nothing is folded for a task that nobody loads. */
function foldCurrentTask(log: TaskLog): Task {
  log.task = replayEvents(log.task, log.events.slice(log.foldedCount));
  log.foldedCount = log.events.length;
  return copyTask(log.task as Task);
}

/** The order of lists: newest status first, then by task id, descending too. */
function compareListOrder(a: TaskListCursor, b: TaskListCursor): number {
  if (a.timestamp !== b.timestamp) return a.timestamp > b.timestamp ? -1 : 1;
  if (a.taskId === b.taskId) return 0;
  return a.taskId > b.taskId ? -1 : 1;
}
