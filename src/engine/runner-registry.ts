import { SlotReuseMap } from "../base/data-structures/index.ts";
import type { A2AError, Task } from "../protocol/index.ts";
import { getTaskKey, type TaskScope } from "./caller.ts";
import { createTaskAwaitsRecoveryError } from "./task-errors.ts";
import type { FollowedTask } from "./nodes/followed-task.ts";
import type { FollowableTask } from "./nodes/log-poller.ts";
import type { NodeLink } from "./nodes/node-link.ts";
import { ActiveTask, type ActiveTaskDependencies } from "./active-task.ts";

/**
 * Registry of the active tasks, which are called runners here. A task has at most one runner, even if many requests
 * access the task concurrently. Where each method finds a task:
 *
 * | method            | its turn runs here | rests here         | only in the store  | its turn runs elsewhere | its node is lost  |
 * |-------------------|--------------------|--------------------|--------------------|-------------------------|-------------------|
 * | `findLive`        | runner             | –                  | –                  | –                       | –                 |
 * | `readTask`        | runner             | task               | task               | task in the store       | task in the store |
 * | `openForReading`  | runner             | runner or followed | runner or followed | followed task           | followed task     |
 * | `openForWriting`  | runner             | runner             | new runner         | followed task           | followed task     |
 * | `openForRecovery` | runner             | runner             | new runner         | new runner              | new runner        |
 */
export class RunnerRegistry {
  readonly #context: ActiveTaskDependencies;
  readonly #submitterContext: ActiveTaskDependencies;
  /** Called for each task that waits for recovery, although a reader or a writer needs the task. */
  readonly #requestPass: () => void;
  readonly #link: NodeLink | undefined;
  readonly #byTask = new SlotReuseMap<ActiveTask>();
  readonly #restingRunners = new RestingRunnerCache();
  readonly #pendingLoads = new Map<string, Promise<ActiveTask | FollowedTask | undefined>>();

  constructor(
    context: Omit<ActiveTaskDependencies, "onIdle" | "onTurnStart" | "openForReading">,
    link?: NodeLink,
    requestPass: () => void = () => {},
  ) {
    this.#requestPass = requestPass;
    this.#link = link;
    this.#context = {
      ...context,
      onIdle: (runner) => this.#removeIdle(runner),
      ...(link && {
        onTurnStart: ({ scope, taskId }: ActiveTask) => link.logs.find(scope, taskId)?.markMoved(),
        openForReading: (scope: TaskScope, taskId: string) => this.openForReading(scope, taskId),
      }),
    };
    const announceCommit = (taskId: string): void => {
      link?.announceCommit(taskId);
      link?.notifyWork();
    };
    // The node that runs the turn delivers to the webhooks of the task.
    this.#submitterContext = { ...this.#context, submitsTurn: true, announceCommit, outbox: undefined };
  }

  /** Creates the runner of a new task. */
  create(scope: TaskScope, taskId: string, contextId: string): ActiveTask {
    const runner = new ActiveTask(this.#context, scope, taskId, contextId);
    this.#byTask.insertNew(taskId, runner);
    return runner;
  }

  /**
   * Creates the runner that commits a message whose turn another node runs. The runner is not in the registry, because
   * it does not receive later events. `runner` is the task before the message, or `undefined` for a new task.
   */
  createSubmitter(scope: TaskScope, taskId: string, contextId: string, runner?: ActiveTask): ActiveTask {
    if (runner) this.remove(runner);
    const stored = runner && {
      task: runner.getSnapshot(),
      seq: runner.seq,
      epoch: runner.lease.epoch,
      awaitsRecovery: false,
    };
    return new ActiveTask(this.#submitterContext, scope, taskId, contextId, stored);
  }

  /** Returns the active runner of a task in `scope`, without querying the store. */
  findLive(scope: TaskScope, taskId: string): ActiveTask | undefined {
    const runner = this.#byTask.get(taskId);
    return runner && isSameTaskScope(runner.scope, scope) && runner.seq > 0 ? runner : undefined;
  }

  /**
   * Resolves with the feed of a task for its readers, or with `undefined` if the task does not exist. The requester
   * must release the feed. The readers of a task that waits for recovery wait for its next attempt.
   */
  async openForReading(scope: TaskScope, taskId: string): Promise<ActiveTask | FollowedTask | undefined> {
    const link = this.#link;
    if (!link) {
      const runner = await this.openForRecovery(scope, taskId);
      if (runner?.isAwaitingRecovery) this.#requestPass();
      return runner;
    }
    const running = this.#findRunning(scope, taskId);
    if (running) return running.retain();
    const known = link.logs.find(scope, taskId)?.retain();
    if (known) {
      known.hasMoved = false;
      try {
        await link.logs.refresh(known);
      } catch (error) {
        known.release();
        throw error;
      }
      return known;
    }
    const resting = this.#restingRunners.find(scope, taskId);
    const start = resting
      ? { task: resting.getSnapshot(), seq: resting.seq, awaitsRecovery: false }
      : await this.#loadAndRequestRecovery(scope, taskId);
    if (!start) return undefined;
    // This node can have started a turn during the query.
    return this.#findRunning(scope, taskId)?.retain() ?? this.#follow(link, scope, start).retain();
  }

  /**
   * Resolves with the runner of a task, or with the followed task if another node runs the turn of the task. Resolves
   * with `undefined` if the task does not exist. The requester must release the result. Rejects with `UNAVAILABLE` if
   * the task waits for recovery by this process.
   */
  async openForWriting(scope: TaskScope, taskId: string): Promise<ActiveTask | FollowedTask | undefined> {
    if (!this.#link || this.#byTask.has(taskId)) return await this.#findOrLoadRunner(scope, taskId);
    const known = this.#link.logs.find(scope, taskId);
    if (known?.hasUnfinishedTurn && !known.hasMoved) return known.retain();
    return await this.#loadOnce(scope, taskId);
  }

  /** Resolves with the retained runner of a task. Rejects with `UNAVAILABLE` if the task waits for recovery. */
  async #findOrLoadRunner(scope: TaskScope, taskId: string): Promise<ActiveTask | undefined> {
    const runner = await this.openForRecovery(scope, taskId);
    if (!runner?.isAwaitingRecovery) return runner;
    runner.release();
    throw this.requestRecovery(taskId);
  }

  /** Returns the runner of a task whose turn this node runs. */
  #findRunning(scope: TaskScope, taskId: string): ActiveTask | undefined {
    const runner = this.findLive(scope, taskId);
    return runner?.hasUnfinishedTurn && !runner.isAwaitingRecovery ? runner : undefined;
  }

  /** Resolves with the last committed task and the sequence number of its last event. Never waits for a recovery. */
  async readTask(
    scope: TaskScope,
    taskId: string,
  ): Promise<{ readonly task: Task; readonly seq: number } | undefined> {
    const live = this.#link ? this.#findRunning(scope, taskId) : this.findLive(scope, taskId);
    if (live) return { task: live.getSnapshot(), seq: live.seq };
    const resting = this.#restingRunners.find(scope, taskId);
    if (resting && (await this.#isCurrent(resting))) return { task: resting.getSnapshot(), seq: resting.seq };
    return await this.#context.store.load(scope, taskId);
  }

  requestRecovery(taskId: string): A2AError {
    this.#requestPass();
    return createTaskAwaitsRecoveryError(taskId);
  }

  /**
   * Resolves with the runner of a task in `scope`, even if the task waits for recovery, or with `undefined` if the task
   * does not exist. Loads an inactive task from the store. The requester must release the runner.
   */
  async openForRecovery(scope: TaskScope, taskId: string): Promise<ActiveTask | undefined> {
    // Another caller's task is treated as missing (E13), and so is a task that is not durable yet.
    if (this.#byTask.has(taskId)) return this.findLive(scope, taskId)?.retain();
    const opened = await this.#loadOnce(scope, taskId, true);
    if (!opened || opened instanceof ActiveTask) return opened;
    // A request has started to load the task before this node has claimed the task.
    opened.release();
    return (await this.#load(scope, taskId, true))?.retain() as ActiveTask | undefined;
  }

  /** Loads a task, and retains the result. Concurrent requests share one query. */
  async #loadOnce(
    scope: TaskScope,
    taskId: string,
    isForRecovery = false,
  ): Promise<ActiveTask | FollowedTask | undefined> {
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

  /** Returns true if the task has a runner, or if a request currently loads the task. */
  isActive(scope: TaskScope, taskId: string): boolean {
    return this.#byTask.has(taskId) || this.#pendingLoads.has(getTaskKey(scope, taskId));
  }

  list(): ActiveTask[] {
    return [...this.#byTask.values()];
  }

  async #load(
    scope: TaskScope,
    taskId: string,
    isForRecovery: boolean,
  ): Promise<ActiveTask | FollowedTask | undefined> {
    const resting = this.#restingRunners.take(scope, taskId);
    const opened =
      resting && (await this.#isCurrent(resting))
        ? resting.wakeUp()
        : await this.#createFromStore(scope, taskId, isForRecovery);
    if (opened && !(opened instanceof ActiveTask)) return opened;
    // A recovery can have loaded the task during the query.
    const live = this.findLive(scope, taskId);
    if (live) return live;
    if (opened) this.#byTask.set(taskId, opened);
    return opened;
  }

  /** Creates a runner for the task as the store has it, or follows the task if another node owns its turn. */
  async #createFromStore(
    scope: TaskScope,
    taskId: string,
    isForRecovery: boolean,
  ): Promise<ActiveTask | FollowedTask | undefined> {
    const stored = await this.#context.store.load(scope, taskId);
    if (!stored) return undefined;
    const isOwnedElsewhere = stored.runsOnOtherNode === true || stored.awaitsRecovery;
    if (this.#link && isOwnedElsewhere && !isForRecovery) return this.#follow(this.#link, scope, stored);
    return new ActiveTask(this.#context, scope, taskId, stored.task.contextId, stored);
  }

  /** Follows the task of a turn that this node leaves to other nodes. The caller must retain the result. */
  follow(runner: ActiveTask): FollowedTask {
    const { scope, seq } = runner;
    const stored = { task: runner.getSnapshot(), seq, awaitsRecovery: false, runsOnOtherNode: true };
    return this.#follow(this.#link as NodeLink, scope, stored);
  }

  async #loadAndRequestRecovery(scope: TaskScope, taskId: string): Promise<FollowableTask | undefined> {
    const stored = await this.#context.store.load(scope, taskId);
    if (stored?.awaitsRecovery) this.#requestPass();
    return stored;
  }

  #follow(link: NodeLink, scope: TaskScope, stored: FollowableTask): FollowedTask {
    return link.logs.follow(scope, stored, () => this.openForReading(scope, stored.task.id));
  }

  /** Resolves with true if the store has not changed the task of a resting runner. */
  async #isCurrent({ scope, taskId, seq, lease }: ActiveTask): Promise<boolean> {
    const { store } = this.#context;
    return (await store.turns?.isUnchanged(scope, taskId, { seq, epoch: lease.epoch })) ?? false;
  }

  #removeIdle(runner: ActiveTask): void {
    this.remove(runner);
    if (this.#context.store.turns && runner.canRest) {
      runner.rest();
      this.#restingRunners.add(runner);
    }
  }

  /** Removes a runner from the registry. The store keeps the task of the runner. */
  remove(runner: ActiveTask): void {
    this.#byTask.deleteIfValue(runner.taskId, runner);
  }

  /** Removes an erased task from memory. */
  forgetErasedTask(scope: TaskScope, taskId: string): void {
    this.#restingRunners.take(scope, taskId);
    const runner = this.findLive(scope, taskId);
    if (!runner) return;
    this.remove(runner);
    runner.markErased();
  }
}

function isSameTaskScope(a: TaskScope, b: TaskScope): boolean {
  return a.tenant === b.tenant && a.principal === b.principal && a.agent === b.agent;
}

/** Limits of a `RestingRunnerCache`. */
export interface RestingRunnerLimits {
  readonly maxTasks: number;
  /** Maximum total size of the tasks, in characters of JSON. A larger task is not kept. */
  readonly maxTotalSize: number;
}

/** A resting task with its history and artifacts needs about twice this size in memory. */
export const DEFAULT_RESTING_RUNNER_LIMITS: RestingRunnerLimits = {
  maxTasks: 1000,
  maxTotalSize: 16 * 2 ** 20,
};

/**
 * Keeps the runners of tasks that wait for their users, so that the next message does not load the task. Above
 * a limit, the cache drops the runner that has rested longest. Another node or a deletion can change the stored
 * task at any time, so the owner of the cache must compare each runner with the store before use.
 */
export class RestingRunnerCache {
  readonly #limits: RestingRunnerLimits;
  readonly #byTask = new SlotReuseMap<ActiveTask>();
  #totalSize = 0;

  constructor(limits: RestingRunnerLimits = DEFAULT_RESTING_RUNNER_LIMITS) {
    this.#limits = limits;
  }

  add(runner: ActiveTask): void {
    const { scope, taskId } = runner;
    this.take(scope, taskId);
    if (runner.size > this.#limits.maxTotalSize) return;
    this.#byTask.insertNew(getTaskKey(scope, taskId), runner);
    this.#totalSize += runner.size;
    for (const oldest of this.#byTask.values()) {
      if (this.#byTask.size <= this.#limits.maxTasks && this.#totalSize <= this.#limits.maxTotalSize) return;
      this.take(oldest.scope, oldest.taskId);
    }
  }

  find(scope: TaskScope, taskId: string): ActiveTask | undefined {
    return this.#byTask.get(getTaskKey(scope, taskId));
  }

  /** Removes the runner of the task from the cache, and returns the runner. */
  take(scope: TaskScope, taskId: string): ActiveTask | undefined {
    const key = getTaskKey(scope, taskId);
    const runner = this.#byTask.get(key);
    if (!runner) return undefined;
    this.#byTask.delete(key);
    this.#totalSize -= runner.size;
    return runner;
  }
}
