import { isInterrupted, isTerminal } from "../protocol/index.ts";
import { getTaskKey, type TaskScope } from "./caller.ts";
import type { ActiveTask } from "./active-task.ts";
import type { EngineParts } from "./assemble-engine.ts";
import type { TaskFeed } from "./task-feed.ts";
import type { Turn } from "./turn.ts";

/** Minimum time in milliseconds without a reader before a turn is canceled. Exceeds the default lease of a node. */
const GRACE_MS = 30_000;
/** Interval in milliseconds at which a node reports its readers to the node that runs the turn. */
const REPORT_INTERVAL_MS = 10_000;

const CANCELLATION_TEXT = "The server canceled the task, because no client waits for it (whenUnread).";

/** The connection of a client that waits for a response. */
export interface ClientConnection {
  /** Calls the callback if the client disconnects. Returns a function that removes the callback. */
  onDisconnect(callback: () => void): () => void;
}

/** A task with readers, or whose last reader has left. */
interface ReadTask {
  readonly scope: TaskScope;
  readonly taskId: string;
  /** Number of readers on this node. */
  readerCount: number;
  cancelTimer: () => void;
}

/**
 * Cancels the turns that no client waits for, for agents with `whenUnread: "cancel"`. A reader is an open stream or a
 * blocking SendMessage. If another node runs the turn of a reader's task, this node reports the reader to that node.
 */
export class UnreadTurns {
  readonly #engine: Pick<EngineParts, "tasks" | "otherNodes" | "clock" | "pushConfigs">;
  readonly #graceMs: number;
  readonly #tasks = new Map<string, ReadTask>();

  constructor(engine: Pick<EngineParts, "tasks" | "otherNodes" | "clock" | "pushConfigs">) {
    this.#engine = engine;
    // The reader of a stopped node needs the time of a lease to learn of it, and continues on another node.
    this.#graceMs = Math.max(GRACE_MS, engine.otherNodes.leaseMs + REPORT_INTERVAL_MS);
  }

  /** Counts a reader of a task until the reader calls the returned function, which is safe to repeat. */
  addReader(feed: TaskFeed): () => void {
    const task = this.#findOrAdd(feed.scope, feed.taskId);
    task.readerCount++;
    this.#update(task);
    let isReading = true;
    return () => {
      if (!isReading) return;
      isReading = false;
      task.readerCount--;
      if (feed.state !== undefined && isTerminal(feed.state)) this.#remove(task);
      else this.#update(task);
    };
  }

  /** Resolves like `wait`. The client is a reader of the task until then, or until it disconnects. */
  async readWhile<T>(feed: TaskFeed, wait: Promise<T>, client?: ClientConnection): Promise<T> {
    const removeReader = this.addReader(feed);
    const removeListener = client?.onDisconnect(removeReader);
    try {
      return await wait;
    } finally {
      removeListener?.();
      removeReader();
    }
  }

  /** Notes that another node has a reader of a task whose turn this node runs. */
  noteRemoteReader(scope: TaskScope, taskId: string): void {
    this.#update(this.#findOrAdd(scope, taskId));
  }

  close(): void {
    for (const task of this.#tasks.values()) this.#remove(task);
  }

  #findOrAdd(scope: TaskScope, taskId: string): ReadTask {
    const key = getTaskKey(scope, taskId);
    let task = this.#tasks.get(key);
    if (!task) {
      task = { scope, taskId, readerCount: 0, cancelTimer: () => {} };
      this.#tasks.set(key, task);
    }
    return task;
  }

  #remove(task: ReadTask): void {
    task.cancelTimer();
    if (task.readerCount === 0) this.#tasks.delete(getTaskKey(task.scope, task.taskId));
  }

  /** Waits for the grace period without readers, or reports the readers of this node to the node of the turn. */
  #update(task: ReadTask): void {
    const { tasks, otherNodes, clock } = this.#engine;
    const { scope, taskId, readerCount } = task;
    task.cancelTimer();
    const turn = tasks.find(scope, taskId)?.currentTurn;
    if (readerCount === 0) {
      // A later turn is a turn without a reader.
      if (!turn) return this.#remove(task);
      task.cancelTimer = clock.schedule(this.#graceMs, () => void this.#cancelUnread(task, turn));
    } else if (otherNodes.isStoreShared) {
      if (!turn) otherNodes.findRunning(scope, taskId)?.reportReader();
      task.cancelTimer = clock.schedule(REPORT_INTERVAL_MS, () => this.#update(task));
    }
  }

  async #cancelUnread(task: ReadTask, turn: Turn): Promise<void> {
    const { tasks, pushConfigs } = this.#engine;
    const active = tasks.find(task.scope, task.taskId);
    if (!active || active.currentTurn !== turn || turn.hasEnded) return this.#remove(task);
    // A client may show the question to its user without a connection.
    if (isAsking(active)) return this.#update(task);
    let hasChanged = false;
    task.cancelTimer = () => (hasChanged = true);
    const configs = await pushConfigs?.list({ taskId: task.taskId }, turn.caller).catch(() => undefined);
    if (hasChanged) return;
    // The store cannot answer now, or the task asks its user since.
    if ((pushConfigs && !configs) || isAsking(active)) return this.#update(task);
    this.#remove(task);
    if (configs?.configs.length || active.currentTurn !== turn || turn.hasEnded) return;
    active.cancel({ reason: CANCELLATION_TEXT, caller: turn.caller, metadata: {}, text: CANCELLATION_TEXT });
  }
}

function isAsking({ state }: ActiveTask): boolean {
  return state !== undefined && isInterrupted(state);
}
