import { SlotMap } from "../base/index.ts";
import type { Task } from "../protocol/index.ts";
import { callerKey, type Scope } from "./caller.ts";
import { Runner, type RunnerContext } from "./runner.ts";

/** The tasks that are being written or read now: at most one runner each, however many ask for it at once. */
export class Runners {
  readonly #context: RunnerContext;
  readonly #byTask = new SlotMap<Runner>();
  readonly #loading = new Map<string, Promise<Runner | undefined>>();

  constructor(context: Omit<RunnerContext, "onIdle">) {
    this.#context = {
      ...context,
      onIdle: (runner) => this.drop(runner),
    };
  }

  /** A runner for a task that does not exist yet. */
  create(scope: Scope, taskId: string, contextId: string): Runner {
    const runner = new Runner(this.#context, { scope, taskId, contextId });
    this.#byTask.add(taskId, runner);
    return runner;
  }

  /** The live runner of a task of that scope, without asking the store. */
  live(scope: Scope, taskId: string): Runner | undefined {
    const runner = this.#byTask.get(taskId);
    return runner && isSame(runner.live.scope, scope) && runner.live.seq > 0 ? runner : undefined;
  }

  /**
   * The runner of a task of that scope, made from the store when it is not live; undefined when there is no such task.
   * Held, so that it does not go before whoever asks comes to use it; to be let go then.
   */
  async find(scope: Scope, taskId: string): Promise<Runner | undefined> {
    // Somebody else's task is no task (E13), and neither is one that is not durable yet.
    if (this.#byTask.has(taskId)) return this.live(scope, taskId)?.hold();
    const key = `${callerKey(scope)}/${taskId}`;
    let loading = this.#loading.get(key);
    if (!loading) {
      loading = this.#load(scope, taskId);
      this.#loading.set(key, loading);
      const forget = (): boolean => this.#loading.delete(key);
      loading.then(forget, forget);
    }
    // All who wait hold it in the same breath, before one of them can let it go.
    return await loading.then((runner) => runner?.hold());
  }

  all(): Runner[] {
    return [...this.#byTask.values()];
  }

  async #load(scope: Scope, taskId: string): Promise<Runner | undefined> {
    const stored = await this.#context.store.load(scope, taskId);
    return stored && this.revive(scope, stored);
  }

  /** A runner for a stored task. */
  revive(scope: Scope, stored: { task: Task; seq: number }): Runner {
    const { id: taskId, contextId } = stored.task;
    const runner = new Runner(this.#context, { scope, taskId, contextId }, stored);
    this.#byTask.set(taskId, runner);
    return runner;
  }

  /** Forgets a runner; its task stays in the store. */
  drop(runner: Runner): void {
    this.#byTask.remove(runner.live.taskId, runner);
  }
}

function isSame(a: Scope, b: Scope): boolean {
  return a.tenant === b.tenant && a.principal === b.principal && a.agent === b.agent;
}
