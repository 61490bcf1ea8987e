import { SlotReuseMap } from "../data-structures/index.ts";
import { getTaskKey, type TaskScope } from "./caller.ts";
import type { ActiveTask } from "./active-task.ts";

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
