import { SlotMap } from "../data-structures/index.ts";
import { getCallerKey, type TaskScope } from "./caller.ts";
import { Runner, type RunnerContext } from "./runner.ts";

/**
 * Registry of the runners of all active tasks. A task has at most one runner, even if many requests access
 * the task concurrently.
 */
export class RunnerRegistry {
  readonly #context: RunnerContext;
  readonly #byTask = new SlotMap<Runner>();
  readonly #pendingLoads = new Map<string, Promise<Runner | undefined>>();

  constructor(context: Omit<RunnerContext, "onIdle">) {
    this.#context = { ...context, onIdle: (runner) => this.remove(runner) };
  }

  /** Creates the runner of a new task. */
  create(scope: TaskScope, taskId: string, contextId: string): Runner {
    const runner = new Runner(this.#context, { scope, taskId, contextId });
    this.#byTask.insertNew(taskId, runner);
    return runner;
  }

  /** Returns the active runner of a task in `scope`, without querying the store. */
  findLive(scope: TaskScope, taskId: string): Runner | undefined {
    const runner = this.#byTask.get(taskId);
    return runner && isSameScope(runner.liveTask.scope, scope) && runner.liveTask.seq > 0
      ? runner
      : undefined;
  }

  /**
   * Resolves with the runner of a task in `scope`, or with `undefined` if the task does not exist. The
   * registry loads inactive tasks from the store. `findAndRetain` retains the runner for the requester. The
   * requester must release the runner.
   */
  async findAndRetain(scope: TaskScope, taskId: string): Promise<Runner | undefined> {
    // Another caller's task is treated as missing (E13), and so is a task that is not durable yet.
    if (this.#byTask.has(taskId)) return this.findLive(scope, taskId)?.retain();
    const key = `${getCallerKey(scope)}/${taskId}`;
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

  list(): Runner[] {
    return [...this.#byTask.values()];
  }

  async #load(scope: TaskScope, taskId: string): Promise<Runner | undefined> {
    const stored = await this.#context.store.load(scope, taskId);
    if (!stored) return undefined;
    const runner = new Runner(this.#context, { scope, taskId, contextId: stored.task.contextId }, stored);
    this.#byTask.set(taskId, runner);
    return runner;
  }

  /** Removes a runner from the registry. The store keeps the task of the runner. */
  remove(runner: Runner): void {
    this.#byTask.deleteIfValue(runner.liveTask.taskId, runner);
  }
}

function isSameScope(a: TaskScope, b: TaskScope): boolean {
  return a.tenant === b.tenant && a.principal === b.principal && a.agent === b.agent;
}
