import { isInterrupted, snapshot, type Message, type Task, type TaskState } from "../protocol/index.ts";
import type { Scope } from "./caller.ts";
import type { Runners } from "./runners.ts";
import type { TaskStore } from "./store.ts";

/** Each is a look into the store, and a client may name as many as fit into a request. */
const MOST = 50;

const WAITING: readonly TaskState[] = ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"];

/** What a run may see of its caller's other tasks: nothing is looked up before it asks. */
export class OtherTasks {
  readonly #store: TaskStore;
  readonly #runners: Runners;
  readonly #scope: Scope;
  readonly #message: Message;

  /** `scope`: that of the caller. `message`: with the ids of its task and its context. */
  constructor(store: TaskStore, runners: Runners, scope: Scope, message: Message) {
    this.#store = store;
    this.#runners = runners;
    this.#scope = scope;
    this.#message = message;
  }

  /** Those that the message refers to. */
  async referenced(): Promise<Task[]> {
    const { referenceTaskIds = [] } = this.#message;
    const tasks: Task[] = [];
    for (const id of [...new Set(referenceTaskIds)].slice(0, MOST)) {
      const task = this.#live(id) ?? (await this.#store.load(this.#scope, id))?.task;
      if (task) tasks.push(snapshot(task));
    }
    return tasks;
  }

  /** Those of the same context that wait for their user. */
  async waiting(): Promise<Task[]> {
    const { taskId, contextId = "" } = this.#message;
    const pages = await Promise.all(
      WAITING.map((status) => this.#store.list(this.#scope, { contextId, status, limit: MOST })),
    );
    return pages
      .flatMap(({ tasks }) => tasks.map((task) => this.#live(task.id) ?? task))
      .filter(({ id, status }) => id !== taskId && isInterrupted(status.state))
      .toSorted((a, b) => newestFirst(a.status.timestamp, b.status.timestamp))
      .slice(0, MOST)
      .map((task) => snapshot(task));
  }

  #live(id: string): Task | undefined {
    return this.#runners.live(this.#scope, id)?.live.snapshot();
  }
}

function newestFirst(a = "", b = ""): number {
  return a === b ? 0 : a < b ? 1 : -1;
}
