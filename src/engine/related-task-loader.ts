import { isInterrupted, copyTask, type Message, type Task, type TaskState } from "../protocol/index.ts";
import type { Caller, TaskScope } from "./caller.ts";
import { isContextInScope } from "./context-scope.ts";
import type { RunnerRegistry } from "./runner-registry.ts";
import type { TaskStore } from "./task-store.ts";

/**
 * Maximum number of tasks that one call loads. The limit is needed because each task requires a store lookup,
 * and a request can reference any number of tasks.
 */
const MAX_RELATED_TASKS = 50;

const STATES_AWAITING_USER: readonly TaskState[] = ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"];

/**
 * Provides an agent run with access to other tasks of its caller. The related tasks are loaded only when
 * the agent requests them.
 */
export class RelatedTaskLoader {
  readonly #store: TaskStore;
  readonly #runners: RunnerRegistry;
  readonly #scope: TaskScope;
  readonly #message: Message;
  readonly #contextScope: Caller["contextScope"];

  /** `scope` must be the scope of the caller. `message` must contain the ids of its task and context. */
  constructor(
    store: TaskStore,
    runners: RunnerRegistry,
    scope: TaskScope,
    message: Message,
    contextScope: Caller["contextScope"],
  ) {
    this.#store = store;
    this.#runners = runners;
    this.#scope = scope;
    this.#message = message;
    this.#contextScope = contextScope;
  }

  async loadReferencedTasks(): Promise<Task[]> {
    const { referenceTaskIds = [] } = this.#message;
    const tasks: Task[] = [];
    for (const id of [...new Set(referenceTaskIds)].slice(0, MAX_RELATED_TASKS)) {
      const task = this.#findLiveTask(id) ?? (await this.#store.load(this.#scope, id))?.task;
      if (task && this.#mayRead(task)) tasks.push(copyTask(task));
    }
    return tasks;
  }

  async listInterruptedTasks(): Promise<Task[]> {
    const { taskId, contextId = "" } = this.#message;
    const pages = await Promise.all(
      STATES_AWAITING_USER.map((status) =>
        this.#store.list(this.#scope, { contextId, status, limit: MAX_RELATED_TASKS }),
      ),
    );
    return pages
      .flatMap(({ tasks }) => tasks.map((task) => this.#findLiveTask(task.id) ?? task))
      .filter(({ id, status }) => id !== taskId && isInterrupted(status.state))
      .toSorted((a, b) => compareTimestampsNewestFirst(a.status.timestamp, b.status.timestamp))
      .slice(0, MAX_RELATED_TASKS)
      .map((task) => copyTask(task));
  }

  #mayRead({ contextId }: Task): boolean {
    return this.#contextScope === undefined || isContextInScope(this.#contextScope, contextId);
  }

  #findLiveTask(id: string): Task | undefined {
    return this.#runners.findLive(this.#scope, id)?.liveTask.getSnapshot();
  }
}

function compareTimestampsNewestFirst(a = "", b = ""): number {
  return a === b ? 0 : a < b ? 1 : -1;
}
