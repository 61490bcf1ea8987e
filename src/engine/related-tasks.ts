import { isInterrupted, copyTask, type Message, type Task, type TaskState } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { RunnerRegistry } from "./runner-registry.ts";
import type { TaskStore } from "./task-store.ts";

/** Each is a look into the store, and a client may name as many as fit into a request. */
const MAX_TASKS = 50;

const INTERRUPTED_STATES: readonly TaskState[] = ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"];

/** What a run may see of its caller's other tasks: nothing is looked up before it asks. */
export class RelatedTasks {
  readonly #store: TaskStore;
  readonly #runners: RunnerRegistry;
  readonly #scope: TaskScope;
  readonly #message: Message;

  /** `scope`: that of the caller. `message`: with the ids of its task and its context. */
  constructor(store: TaskStore, runners: RunnerRegistry, scope: TaskScope, message: Message) {
    this.#store = store;
    this.#runners = runners;
    this.#scope = scope;
    this.#message = message;
  }

  /** Those that the message refers to. */
  async loadReferencedTasks(): Promise<Task[]> {
    const { referenceTaskIds = [] } = this.#message;
    const tasks: Task[] = [];
    for (const id of [...new Set(referenceTaskIds)].slice(0, MAX_TASKS)) {
      const task = this.#findLiveTask(id) ?? (await this.#store.load(this.#scope, id))?.task;
      if (task) tasks.push(copyTask(task));
    }
    return tasks;
  }

  /** Those of the same context that wait for their user. */
  async listInterruptedTasks(): Promise<Task[]> {
    const { taskId, contextId = "" } = this.#message;
    const pages = await Promise.all(
      INTERRUPTED_STATES.map((status) =>
        this.#store.list(this.#scope, { contextId, status, limit: MAX_TASKS }),
      ),
    );
    return pages
      .flatMap(({ tasks }) => tasks.map((task) => this.#findLiveTask(task.id) ?? task))
      .filter(({ id, status }) => id !== taskId && isInterrupted(status.state))
      .toSorted((a, b) => compareNewestFirst(a.status.timestamp, b.status.timestamp))
      .slice(0, MAX_TASKS)
      .map((task) => copyTask(task));
  }

  #findLiveTask(id: string): Task | undefined {
    return this.#runners.findLive(this.#scope, id)?.liveTask.getSnapshot();
  }
}

function compareNewestFirst(a = "", b = ""): number {
  return a === b ? 0 : a < b ? 1 : -1;
}
