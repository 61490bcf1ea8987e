import { SlotReuseMap } from "../base/data-structures/index.ts";
import type { A2AError } from "../protocol/index.ts";
import { ActiveTask, type ActiveTaskDependencies } from "./active-task.ts";
import { getTaskKey, type TaskScope } from "./caller.ts";
import type { FollowableTask, OtherNodes, RemoteTask } from "./other-nodes.ts";
import { createTaskAwaitsRecoveryError } from "./task-errors.ts";

/**
 * Registry of the active tasks. A task is active on this node at most once, even if many requests access the task
 * concurrently. Where each method finds a task:
 *
 * | method     | its turn runs here | rests here         | only in the store  | its turn runs elsewhere | its node is lost  |
 * |------------|--------------------|--------------------|--------------------|-------------------------|-------------------|
 * | `find`     | active task        | –                  | –                  | –                       | –                 |
 * | `read`     | active task        | task               | task in the store  | task in the store       | task in the store |
 * | `openFeed` | active task        | active or followed | active or followed | followed task           | followed task     |
 * | `open`     | active task        | active task        | new active task    | followed task           | followed task     |
 *
 * `openFeed` follows a task without a turn if other nodes can start the next turn. To recover a lost task, `open` creates
 * an active task.
 */
export class TaskRegistry {
  readonly #context: ActiveTaskDependencies;
  readonly #submitterContext: ActiveTaskDependencies;
  /** Called for each task that waits for recovery, although a reader or a writer needs the task. */
  readonly #requestPass: () => void;
  readonly #otherNodes: OtherNodes;
  readonly #byTask = new SlotReuseMap<ActiveTask>();
  readonly #restingTasks = new RestingTaskCache();
  readonly #pendingLoads = new Map<string, Promise<ActiveTask | RemoteTask | undefined>>();

  constructor(
    context: Omit<ActiveTaskDependencies, "onIdle" | "onTurnStart" | "openFeed" | "announceCommit">,
    otherNodes: OtherNodes,
    requestPass: () => void,
  ) {
    this.#requestPass = requestPass;
    this.#otherNodes = otherNodes;
    this.#context = {
      ...context,
      onIdle: (task) => this.#removeIdle(task),
      openFeed: (scope, taskId) => this.openFeed(scope, taskId),
      onTurnStart: otherNodes.onTurnStart,
      announceCommit: otherNodes.announceCommit,
    };
    // The node that runs the turn delivers to the webhooks of the task.
    const { announceTurn: announceCommit } = otherNodes;
    this.#submitterContext = { ...this.#context, submitsTurn: true, announceCommit, outbox: undefined };
  }

  /** Creates the active task of a message without a task. */
  create(scope: TaskScope, taskId: string, contextId: string): ActiveTask {
    const task = new ActiveTask(this.#context, scope, taskId, contextId);
    this.#byTask.insertNew(taskId, task);
    return task;
  }

  /**
   * Creates the active task that commits a message whose turn another node runs. The result is not in the registry,
   * because it does not receive later events. `task` is the task before the message, or `undefined` for a new task.
   */
  createSubmitter(scope: TaskScope, taskId: string, contextId: string, task?: ActiveTask): ActiveTask {
    if (task) this.remove(task);
    const stored = task && {
      task: task.getSnapshot(),
      seq: task.seq,
      epoch: task.lease.epoch,
      awaitsRecovery: false,
    };
    return new ActiveTask(this.#submitterContext, scope, taskId, contextId, stored);
  }

  /** Returns an active task in `scope`, without querying the store. Another node can have changed a task without a turn. */
  find(scope: TaskScope, taskId: string): ActiveTask | undefined {
    const task = this.#byTask.get(taskId);
    return task && isSameTaskScope(task.scope, scope) && task.seq > 0 ? task : undefined;
  }

  /**
   * Returns an active task that no other node can have changed. An agent that still runs after it has asked its user has
   * no lease, so that another node can have continued the task.
   */
  #findCurrent(scope: TaskScope, taskId: string): ActiveTask | undefined {
    const task = this.find(scope, taskId);
    const isHeld = task?.isRunningHere && (task.isRunningInStore || task.hasPendingEvents);
    return task && (!this.#context.isShared || isHeld) ? task : undefined;
  }

  /**
   * Resolves with the last committed task and the sequence number of its last event, or with `undefined` if the task does
   * not exist. Never waits for a recovery.
   */
  async read(scope: TaskScope, taskId: string): Promise<FollowableTask | undefined> {
    const resting = this.#restingTasks.find(scope, taskId);
    const current =
      this.#findCurrent(scope, taskId) ??
      (resting && (await this.#isUnchanged(resting)) ? resting : undefined);
    return current
      ? { task: current.getSnapshot(), seq: current.seq, awaitsRecovery: current.isAwaitingRecovery }
      : await this.#context.store.load(scope, taskId);
  }

  /**
   * Resolves with the feed of a task for its readers, or with `undefined` if the task does not exist. The requester
   * must release the feed. The readers of a task that waits for recovery wait for its next attempt.
   */
  async openFeed(scope: TaskScope, taskId: string): Promise<ActiveTask | RemoteTask | undefined> {
    const feed =
      this.#findCurrent(scope, taskId)?.retain() ??
      (this.#context.isShared
        ? await this.#openFollowed(scope, taskId)
        : await this.open(scope, taskId, "recovery"));
    if (feed?.turnStatus === "awaiting-recovery") this.#requestPass();
    return feed;
  }

  async #openFollowed(scope: TaskScope, taskId: string): Promise<ActiveTask | RemoteTask | undefined> {
    const known = await this.#otherNodes.refreshFollowed(scope, taskId);
    if (known) return known;
    const start = await this.read(scope, taskId);
    if (!start) return undefined;
    // This node can have started a turn during the query.
    return this.#findCurrent(scope, taskId)?.retain() ?? this.#follow(scope, start).retain();
  }

  #follow(scope: TaskScope, stored: FollowableTask): RemoteTask {
    return this.#otherNodes.follow(scope, stored, () => this.openFeed(scope, stored.task.id));
  }

  /**
   * Resolves with the active task, or with the followed task if another node runs the turn of the task. Resolves with
   * `undefined` if the task does not exist. The requester must release the result. Rejects with `UNAVAILABLE` if the
   * task waits for recovery, and no other node can recover it. A recovery opens such a task, and opens a task that this
   * node has claimed.
   */
  open(scope: TaskScope, taskId: string, use: "recovery"): Promise<ActiveTask | undefined>;
  open(scope: TaskScope, taskId: string): Promise<ActiveTask | RemoteTask | undefined>;
  async open(
    scope: TaskScope,
    taskId: string,
    use?: "recovery",
  ): Promise<ActiveTask | RemoteTask | undefined> {
    const isForRecovery = use === "recovery";
    const opened = await this.#openKnownOrLoad(scope, taskId, isForRecovery);
    if (isForRecovery && opened && !(opened instanceof ActiveTask)) {
      // A request has started to load the task before this node has claimed the task.
      opened.release();
      return (await this.#load(scope, taskId, true))?.retain();
    }
    if (isForRecovery || !(opened instanceof ActiveTask) || !opened.isAwaitingRecovery) return opened;
    opened.release();
    const error = this.requestRecovery(taskId);
    if (!this.#context.isShared) throw error;
    // The node that claims the task answers, which may be this node.
    return this.#follow(scope, {
      task: opened.getSnapshot(),
      seq: opened.seq,
      awaitsRecovery: true,
    }).retain();
  }

  async #openKnownOrLoad(
    scope: TaskScope,
    taskId: string,
    isForRecovery: boolean,
  ): Promise<ActiveTask | RemoteTask | undefined> {
    // Another caller's task is treated as missing (E13), and so is a task that is not durable yet.
    if (this.#byTask.has(taskId)) return this.find(scope, taskId)?.retain();
    const running = isForRecovery ? undefined : this.#otherNodes.findRunning(scope, taskId);
    return running ? running.retain() : await this.#loadOnce(scope, taskId, isForRecovery);
  }

  requestRecovery(taskId: string): A2AError {
    this.#requestPass();
    return createTaskAwaitsRecoveryError(taskId);
  }

  /** Loads a task, and retains the result. Concurrent requests share one query. */
  async #loadOnce(
    scope: TaskScope,
    taskId: string,
    isForRecovery: boolean,
  ): Promise<ActiveTask | RemoteTask | undefined> {
    const key = getTaskKey(scope, taskId);
    let loading = this.#pendingLoads.get(key);
    if (!loading) {
      loading = this.#load(scope, taskId, isForRecovery);
      this.#pendingLoads.set(key, loading);
      const removeEntry = (): boolean => this.#pendingLoads.delete(key);
      loading.then(removeEntry, removeEntry);
    }
    // Retain the task for all waiting requests in the same microtask, before one of them can release it.
    return await loading.then((opened) => opened?.retain());
  }

  async #load(
    scope: TaskScope,
    taskId: string,
    isForRecovery: boolean,
  ): Promise<ActiveTask | RemoteTask | undefined> {
    const resting = this.#restingTasks.take(scope, taskId);
    const opened =
      resting && (await this.#isUnchanged(resting))
        ? resting.wakeUp()
        : await this.#createFromStore(scope, taskId, isForRecovery);
    if (opened && !(opened instanceof ActiveTask)) return opened;
    // A recovery can have loaded the task during the query.
    const active = this.find(scope, taskId);
    if (active) return active;
    if (opened) this.#byTask.set(taskId, opened);
    return opened;
  }

  /** Creates an active task as the store has it, or follows the task if another node owns its turn. */
  async #createFromStore(
    scope: TaskScope,
    taskId: string,
    isForRecovery: boolean,
  ): Promise<ActiveTask | RemoteTask | undefined> {
    const stored = await this.#context.store.load(scope, taskId);
    if (!stored) return undefined;
    const isOwnedElsewhere = stored.runsOnOtherNode === true || stored.awaitsRecovery;
    if (this.#context.isShared && isOwnedElsewhere && !isForRecovery) return this.#follow(scope, stored);
    return new ActiveTask(this.#context, scope, taskId, stored.task.contextId, stored);
  }

  /** Resolves with true if the store has not changed a resting task. */
  async #isUnchanged({ scope, taskId, seq, lease }: ActiveTask): Promise<boolean> {
    const { store } = this.#context;
    return (await store.turns?.isUnchanged(scope, taskId, { seq, epoch: lease.epoch })) ?? false;
  }

  /** Returns true if the task is active, or if a request currently loads the task. */
  isActive(scope: TaskScope, taskId: string): boolean {
    return this.#byTask.has(taskId) || this.#pendingLoads.has(getTaskKey(scope, taskId));
  }

  list(): ActiveTask[] {
    return [...this.#byTask.values()];
  }

  #removeIdle(task: ActiveTask): void {
    this.remove(task);
    if (this.#context.store.turns && task.canRest) {
      task.rest();
      this.#restingTasks.add(task);
    }
  }

  /** Removes a task from the registry. The store keeps the task. */
  remove(task: ActiveTask): void {
    this.#byTask.deleteIfValue(task.taskId, task);
  }

  /** Removes an erased task from memory. */
  forgetErasedTask(scope: TaskScope, taskId: string): void {
    this.#restingTasks.take(scope, taskId);
    const task = this.find(scope, taskId);
    if (!task) return;
    this.remove(task);
    task.markErased();
  }
}

function isSameTaskScope(a: TaskScope, b: TaskScope): boolean {
  return a.tenant === b.tenant && a.principal === b.principal && a.agent === b.agent;
}

/**
 * Keeps tasks that wait for their users, so that the next message does not load the task. Above a limit, the cache
 * drops the task that has rested longest. Another node or a deletion can change the stored task at any time, so the owner
 * of the cache must compare each task with the store before use.
 */
export class RestingTaskCache {
  readonly #maxTasks: number;
  readonly #maxTotalSize: number;
  readonly #byTask = new SlotReuseMap<ActiveTask>();
  #totalSize = 0;

  /**
   * `maxTotalSize` is the maximum total size of the tasks, in characters of JSON. A larger task is not kept. A resting
   * task with its history and artifacts needs about twice this size in memory.
   */
  constructor(maxTasks: number = 1000, maxTotalSize: number = 16 * 2 ** 20) {
    this.#maxTasks = maxTasks;
    this.#maxTotalSize = maxTotalSize;
  }

  add(task: ActiveTask): void {
    const { scope, taskId } = task;
    this.take(scope, taskId);
    if (task.size > this.#maxTotalSize) return;
    this.#byTask.insertNew(getTaskKey(scope, taskId), task);
    this.#totalSize += task.size;
    for (const oldest of this.#byTask.values()) {
      if (this.#byTask.size <= this.#maxTasks && this.#totalSize <= this.#maxTotalSize) return;
      this.take(oldest.scope, oldest.taskId);
    }
  }

  find(scope: TaskScope, taskId: string): ActiveTask | undefined {
    return this.#byTask.get(getTaskKey(scope, taskId));
  }

  /** Removes a task from the cache, and returns the task. */
  take(scope: TaskScope, taskId: string): ActiveTask | undefined {
    const key = getTaskKey(scope, taskId);
    const task = this.#byTask.get(key);
    if (!task) return undefined;
    this.#byTask.delete(key);
    this.#totalSize -= task.size;
    return task;
  }
}
