import { SlotMap } from "../base/index.ts";
import type {
  Append,
  AppendRefusal,
  KeptTurn,
  ListCursor,
  ListPage,
  ListQuery,
  PushStore,
  Scope,
  TaskStore,
  UnfinishedTask,
} from "../engine/index.ts";
import { isTerminal, snapshot, type LogEvent, type Task, type TaskState } from "../protocol/index.ts";
import { MemoryPush } from "./memory-push.ts";
import { replay } from "./replay.ts";
import { scopeKey } from "./scope-key.ts";

const SHORT = 16;

/** One task: its log, and as much of it as was folded so far. */
interface TaskLog {
  readonly owner: Owned;
  readonly taskId: string;
  readonly contextId: string;
  /** Replaced, not pushed to, by the few appends of a short task: a grown array would keep four times the room. */
  events: LogEvent[];
  /** Ids of the caller's messages in the log. */
  messageIds: string[];
  state: TaskState;
  timestamp: string;
  turn: KeptTurn | undefined;
  task: Task | undefined;
  folded: number;
}

/** All that one scope owns. */
interface Owned {
  readonly scope: Scope;
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
  readonly snapshots = false;
  readonly #owners = new Map<string, Owned>();
  readonly #push = new MemoryPush((scope, taskId) => {
    const log = this.#find(scope, taskId);
    return log && { seq: log.events.length, state: log.state };
  });
  readonly push: PushStore = this.#push;
  readonly #maxFinished: number;
  /** A ring: the slot of `#oldest` is the next to be taken. */
  readonly #finished: TaskLog[] = [];
  #oldest = 0;
  #newest: Owned | undefined;

  constructor({ maxFinishedTasks = 10_000 }: MemoryStoreOptions = {}) {
    if (!Number.isInteger(maxFinishedTasks) || maxFinishedTasks < 1) {
      throw new RangeError(`maxFinishedTasks is ${maxFinishedTasks}; make it a whole number of at least 1.`);
    }
    this.#maxFinished = maxFinishedTasks;
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {}

  async commit(batch: readonly Append[]): Promise<readonly (AppendRefusal | undefined)[]> {
    return batch.map((append) => this.#append(append));
  }

  async load(scope: Scope, taskId: string): Promise<{ task: Task; seq: number } | undefined> {
    const log = this.#find(scope, taskId);
    return log && { task: currentTask(log), seq: log.events.length };
  }

  async read(
    scope: Scope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    const events = this.#find(scope, taskId)?.events.slice(after, after + limit.events) ?? [];
    let bytes = 0;
    const last = events.findIndex((event) => (bytes += Buffer.byteLength(event.json)) > limit.maxBytes);
    return last === -1 ? events : events.slice(0, last + 1);
  }

  async list(scope: Scope, { contextId, status, since, after, limit }: ListQuery): Promise<ListPage> {
    const matches: TaskLog[] = [];
    for (const log of this.#owned(scope)?.logs.values() ?? []) {
      if (contextId !== undefined && log.contextId !== contextId) continue;
      if (status !== undefined && log.state !== status) continue;
      if (since !== undefined && log.timestamp < since) continue;
      matches.push(log);
    }
    const behind = after ? matches.filter((log) => compare(log, after) > 0) : matches;
    behind.sort(compare);
    return {
      tasks: behind.slice(0, limit).map(currentTask),
      more: behind.length > limit,
      total: matches.length,
    };
  }

  async findMessage(scope: Scope, messageId: string): Promise<{ taskId: string; seq: number } | undefined> {
    return this.#owned(scope)?.messages.get(messageId);
  }

  async unfinished(): Promise<UnfinishedTask[]> {
    const tasks: UnfinishedTask[] = [];
    for (const { scope, logs } of this.#owners.values()) {
      for (const { taskId, contextId, events, state, timestamp, turn } of logs.values()) {
        if (state === "TASK_STATE_SUBMITTED" || state === "TASK_STATE_WORKING") {
          const task = { scope, taskId, contextId, seq: events.length, state, timestamp };
          tasks.push(turn ? { ...task, turn } : task);
        }
      }
    }
    return tasks;
  }

  #find(scope: Scope, taskId: string): TaskLog | undefined {
    return this.#owned(scope)?.logs.get(taskId);
  }

  #append({
    scope,
    taskId,
    contextId,
    after,
    events,
    status,
    messages,
    webhooks,
    turn,
  }: Append): AppendRefusal | undefined {
    const owner = this.#ownerOf(scope);
    const known = owner.logs.get(taskId);
    if ((known?.events.length ?? 0) !== after) return "conflict";
    if (hasDuplicate(owner, messages)) return "duplicate-message";
    const log: TaskLog = known ?? {
      owner,
      taskId,
      contextId,
      events: [],
      messageIds: [],
      state: status.state,
      timestamp: status.timestamp,
      turn: undefined,
      task: undefined,
      folded: 0,
    };
    if (!known) {
      owner.logs.add(taskId, log);
      this.#owners.set(owner.key, owner);
    }
    extend(log, events, messages);
    for (const { messageId, seq } of messages) owner.messages.add(messageId, { taskId, seq });
    if (turn !== undefined) log.turn = turn ?? undefined;
    log.state = status.state;
    log.timestamp = status.timestamp;
    if (webhooks) for (const webhook of webhooks) this.#push.register(scope, taskId, after, webhook);
    if (isTerminal(status.state)) this.#finish(log);
    return undefined;
  }

  /** What a scope owns. Most requests come from the same few callers, one of them just before. */
  #owned(scope: Scope): Owned | undefined {
    const newest = this.#newest;
    if (newest && isSame(newest.scope, scope)) return newest;
    const owned = this.#owners.get(scopeKey(scope));
    if (owned) this.#newest = owned;
    return owned;
  }

  #ownerOf(scope: Scope): Owned {
    return (
      this.#owned(scope) ?? { scope, key: scopeKey(scope), logs: new SlotMap(), messages: new SlotMap() }
    );
  }

  #finish(log: TaskLog): void {
    const forgotten = this.#finished[this.#oldest];
    this.#finished[this.#oldest] = log;
    this.#oldest = (this.#oldest + 1) % this.#maxFinished;
    if (forgotten) this.#forget(forgotten);
  }

  #forget({ owner, taskId, messageIds }: TaskLog): void {
    owner.logs.delete(taskId);
    this.#push.forget(owner.scope, taskId);
    for (const messageId of messageIds) owner.messages.delete(messageId);
    if (owner.logs.size > 0) return;
    this.#owners.delete(owner.key);
    this.#newest = undefined;
  }
}

function isSame(a: Scope, b: Scope): boolean {
  return a.principal === b.principal && a.tenant === b.tenant && a.agent === b.agent;
}

function extend(log: TaskLog, events: readonly LogEvent[], messages: Append["messages"]): void {
  if (log.events.length < SHORT) log.events = [...log.events, ...events];
  else for (const event of events) log.events.push(event);
  if (messages.length > 0)
    log.messageIds = [...log.messageIds, ...messages.map(({ messageId }) => messageId)];
}

function hasDuplicate({ messages: known }: Owned, messages: Append["messages"]): boolean {
  return messages.some(
    ({ messageId }, at) => known.has(messageId) || messages.findIndex((m) => m.messageId === messageId) < at,
  );
}

/** Folds what was appended since the last time: nothing is folded for a task that nobody loads. */
function currentTask(log: TaskLog): Task {
  log.task = replay(log.task, log.events.slice(log.folded));
  log.folded = log.events.length;
  return snapshot(log.task as Task);
}

/** The order of lists: newest status first, then by task id, descending too. */
function compare(a: ListCursor, b: ListCursor): number {
  if (a.timestamp !== b.timestamp) return a.timestamp > b.timestamp ? -1 : 1;
  if (a.taskId === b.taskId) return 0;
  return a.taskId > b.taskId ? -1 : 1;
}
