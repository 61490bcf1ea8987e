import { SlotReuseMap } from "../data-structures/index.ts";
import type { A2AError, Task } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import { getTaskKey, RestingRunnerCache } from "./resting-runner-cache.ts";
import { createTaskAwaitsRecoveryError } from "./task-errors.ts";
import { TaskRunner, type TaskRunnerDependencies } from "./task-runner.ts";

/**
 * Registry of the runners of all active tasks. A task has at most one runner, even if many requests access
 * the task concurrently.
 */
export class RunnerRegistry {
  readonly #context: TaskRunnerDependencies;
  readonly #onRecoveryNeeded: () => void;
  readonly #byTask = new SlotReuseMap<TaskRunner>();
  readonly #restingRunners = new RestingRunnerCache();
  readonly #pendingLoads = new Map<string, Promise<TaskRunner | undefined>>();

  /** `onRecoveryNeeded` is called for each task that waits for recovery, although a request needs the task. */
  constructor(context: Omit<TaskRunnerDependencies, "onIdle">, onRecoveryNeeded: () => void = () => {}) {
    this.#onRecoveryNeeded = onRecoveryNeeded;
    this.#context = { ...context, onIdle: (runner) => this.#removeIdle(runner) };
  }

  /** Creates the runner of a new task. */
  create(scope: TaskScope, taskId: string, contextId: string): TaskRunner {
    const runner = new TaskRunner(this.#context, { scope, taskId, contextId });
    this.#byTask.insertNew(taskId, runner);
    return runner;
  }

  /** Returns the active runner of a task in `scope`, without querying the store. */
  findLive(scope: TaskScope, taskId: string): TaskRunner | undefined {
    const runner = this.#byTask.get(taskId);
    return runner && isSameTaskScope(runner.liveTask.scope, scope) && runner.liveTask.seq > 0
      ? runner
      : undefined;
  }

  /**
   * Resolves with the runner of a task in `scope`, or with `undefined` if the task does not exist. The
   * registry loads inactive tasks from the store. `findOrLoadAndRetain` retains the runner for the requester. The
   * requester must release the runner. Rejects with `UNAVAILABLE` if the task waits for recovery.
   */
  async findOrLoadAndRetain(scope: TaskScope, taskId: string): Promise<TaskRunner | undefined> {
    const runner = await this.findOrLoadAndRetainForRecovery(scope, taskId);
    if (!runner?.isAwaitingRecovery) return runner;
    runner.release();
    throw this.#requestRecovery(taskId);
  }

  /**
   * Resolves with the current task and the sequence number of its last event. Rejects with `UNAVAILABLE` if the
   * task waits for recovery.
   */
  async readTask(
    scope: TaskScope,
    taskId: string,
  ): Promise<{ readonly task: Task; readonly seq: number } | undefined> {
    const live = this.findLive(scope, taskId);
    if (live && !live.isAwaitingRecovery)
      return { task: live.liveTask.getSnapshot(), seq: live.liveTask.seq };
    const resting = this.#restingRunners.find(scope, taskId);
    if (resting && (await this.#isCurrent(resting)))
      return { task: resting.liveTask.getSnapshot(), seq: resting.liveTask.seq };
    const stored = await this.#context.store.load(scope, taskId);
    // A new task can be in the store before its runner has received the commit.
    if (stored?.awaitsRecovery && (this.#byTask.get(taskId)?.isAwaitingRecovery ?? true))
      throw this.#requestRecovery(taskId);
    return stored;
  }

  #requestRecovery(taskId: string): A2AError {
    this.#onRecoveryNeeded();
    return createTaskAwaitsRecoveryError(taskId);
  }

  /** Like `findOrLoadAndRetain`, but also resolves with the runner of a task that waits for recovery. */
  async findOrLoadAndRetainForRecovery(scope: TaskScope, taskId: string): Promise<TaskRunner | undefined> {
    // Another caller's task is treated as missing (E13), and so is a task that is not durable yet.
    if (this.#byTask.has(taskId)) return this.findLive(scope, taskId)?.retain();
    const key = getTaskKey(scope, taskId);
    let loading = this.#pendingLoads.get(key);
    if (!loading) {
      loading = this.#load(scope, taskId);
      this.#pendingLoads.set(key, loading);
      const removeEntry = (): boolean => this.#pendingLoads.delete(key);
      loading.then(removeEntry, removeEntry);
    }
    // Retain the runner for all waiting requests in the same microtask, before one of them can release it.
    return await loading.then((runner) => runner?.retain());
  }

  /** Returns true if the task has a runner, or if a request currently loads the task. */
  isActive(scope: TaskScope, taskId: string): boolean {
    return this.#byTask.has(taskId) || this.#pendingLoads.has(getTaskKey(scope, taskId));
  }

  list(): TaskRunner[] {
    return [...this.#byTask.values()];
  }

  async #load(scope: TaskScope, taskId: string): Promise<TaskRunner | undefined> {
    const resting = this.#restingRunners.take(scope, taskId);
    const runner =
      resting && (await this.#isCurrent(resting)) ? resting : await this.#createFromStore(scope, taskId);
    if (runner) this.#byTask.set(taskId, runner);
    return runner;
  }

  /** Creates a runner for the task as the store has it. */
  async #createFromStore(scope: TaskScope, taskId: string): Promise<TaskRunner | undefined> {
    const stored = await this.#context.store.load(scope, taskId);
    return (
      stored && new TaskRunner(this.#context, { scope, taskId, contextId: stored.task.contextId }, stored)
    );
  }

  /** Resolves with true if the store has not changed the task of a resting runner. */
  async #isCurrent({ liveTask: { scope, taskId, seq, lease } }: TaskRunner): Promise<boolean> {
    const { store } = this.#context;
    return (await store.isTaskUnchanged?.(scope, taskId, { seq, epoch: lease.epoch })) ?? false;
  }

  #removeIdle(runner: TaskRunner): void {
    this.remove(runner);
    if (this.#context.store.isTaskUnchanged && runner.canRest) {
      runner.liveTask.rest();
      this.#restingRunners.add(runner);
    }
  }

  /** Removes a runner from the registry. The store keeps the task of the runner. */
  remove(runner: TaskRunner): void {
    this.#byTask.deleteIfValue(runner.liveTask.taskId, runner);
  }

  /** Removes an erased task from memory. */
  forgetErasedTask(scope: TaskScope, taskId: string): void {
    this.#restingRunners.take(scope, taskId);
    const runner = this.findLive(scope, taskId);
    if (!runner) return;
    this.remove(runner);
    runner.liveTask.markErased();
  }
}

function isSameTaskScope(a: TaskScope, b: TaskScope): boolean {
  return a.tenant === b.tenant && a.principal === b.principal && a.agent === b.agent;
}
