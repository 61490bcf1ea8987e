import { SlotMap } from "../data-structures/index.ts";
import type { Task } from "../protocol/index.ts";
import { getCallerKey, type TaskScope } from "./caller.ts";
import { Runner, type RunnerContext } from "./runner.ts";

/** The tasks that are being written or read now: at most one runner each, however many ask for it at once. */
export class RunnerRegistry {
  readonly #context: RunnerContext;
  readonly #byTask = new SlotMap<Runner>();
  readonly #pendingLoads = new Map<string, Promise<Runner | undefined>>();

  constructor(context: Omit<RunnerContext, "onIdle">) {
    this.#context = {
      ...context,
      onIdle: (runner) => this.remove(runner),
    };
  }

  /** A runner for a task that does not exist yet. */
  create(scope: TaskScope, taskId: string, contextId: string): Runner {
    const runner = new Runner(this.#context, { scope, taskId, contextId });
    this.#byTask.insertNew(taskId, runner);
    return runner;
  }

  /** The live runner of a task of that scope, without asking the store. */
  findLive(scope: TaskScope, taskId: string): Runner | undefined {
    const runner = this.#byTask.get(taskId);
    return runner && isSameScope(runner.liveTask.scope, scope) && runner.liveTask.seq > 0
      ? runner
      : undefined;
  }

  /**
   * The runner of a task of that scope, made from the store when it is not live; undefined when there is no such task.
   * Held, so that it does not go before whoever asks comes to use it; to be let go then.
   */
  async findAndRetain(scope: TaskScope, taskId: string): Promise<Runner | undefined> {
    // Somebody else's task is no task (E13), and neither is one that is not durable yet.
    if (this.#byTask.has(taskId)) return this.findLive(scope, taskId)?.retain();
    const key = `${getCallerKey(scope)}/${taskId}`;
    let loading = this.#pendingLoads.get(key);
    if (!loading) {
      loading = this.#load(scope, taskId);
      this.#pendingLoads.set(key, loading);
      const forget = (): boolean => this.#pendingLoads.delete(key);
      loading.then(forget, forget);
    }
    // All who wait hold it in the same breath, before one of them can let it go.
    return await loading.then((runner) => runner?.retain());
  }

  list(): Runner[] {
    return [...this.#byTask.values()];
  }

  async #load(scope: TaskScope, taskId: string): Promise<Runner | undefined> {
    const stored = await this.#context.store.load(scope, taskId);
    return stored && this.createFromStored(scope, stored);
  }

  /** A runner for a stored task. */
  createFromStored(scope: TaskScope, stored: { task: Task; seq: number }): Runner {
    const { id: taskId, contextId } = stored.task;
    const runner = new Runner(this.#context, { scope, taskId, contextId }, stored);
    this.#byTask.set(taskId, runner);
    return runner;
  }

  /** Forgets a runner; its task stays in the store. */
  remove(runner: Runner): void {
    this.#byTask.deleteIfValue(runner.liveTask.taskId, runner);
  }
}

function isSameScope(a: TaskScope, b: TaskScope): boolean {
  return a.tenant === b.tenant && a.principal === b.principal && a.agent === b.agent;
}
