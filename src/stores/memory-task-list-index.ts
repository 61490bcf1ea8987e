import { SortedList } from "../base/data-structures/index.ts";
import type { TaskListCursor, TaskListQuery } from "../engine/index.ts";
import type { TaskState } from "../protocol/index.ts";
import { STORED_TASK_STATES } from "./stored-task-states.ts";

/** The members of a task by which task lists are filtered and sorted. */
export interface IndexedTask extends TaskListCursor {
  readonly contextId: string;
  readonly state: TaskState;
}

/**
 * The tasks of one scope in the order of task lists. The index has one sorted list for each state, and one for each
 * pair of context and state. A list query merges the lists that match, so that the query reads no other tasks.
 */
export class MemoryTaskListIndex<T extends IndexedTask> {
  readonly #lists = new Map<string, SortedList<TaskListCursor, T>>();

  add(task: T): void {
    for (const name of [getListName(task.state), getListName(task.state, task.contextId)]) {
      let list = this.#lists.get(name);
      if (!list) this.#lists.set(name, (list = new SortedList(compareTaskPositions)));
      list.add(task);
    }
  }

  /** Removes a task. Call `remove` before the state or the timestamp of the task changes. */
  remove(task: T): void {
    for (const name of [getListName(task.state), getListName(task.state, task.contextId)]) {
      const list = this.#lists.get(name);
      list?.remove(task);
      if (list?.size === 0) this.#lists.delete(name);
    }
  }

  /** Returns the number of matching tasks. */
  count(query: TaskListFilter): number {
    const first = query.statusSince === undefined ? undefined : { timestamp: query.statusSince, taskId: "" };
    return this.#findLists(query).reduce(
      (sum, list) => sum + list.size - (first ? list.countBefore(first) : 0),
      0,
    );
  }

  /** Yields the matching tasks after `after` in list order. */
  *values(query: TaskListFilter, after?: TaskListCursor): Generator<T, void, undefined> {
    const { statusSince = "" } = query;
    const cursors = this.#findLists(query).map((list) => list.valuesDescending(after));
    const heads = cursors.map((cursor) => cursor.next().value ?? undefined);
    for (;;) {
      const at = findNewest(heads);
      const newest = heads[at];
      if (!newest || newest.timestamp < statusSince) return;
      yield newest;
      heads[at] = cursors[at]?.next().value ?? undefined;
    }
  }

  #findLists({ contextId, status }: TaskListFilter): SortedList<TaskListCursor, T>[] {
    const states = status === undefined ? STORED_TASK_STATES : [status];
    return states.flatMap((state) => this.#lists.get(getListName(state, contextId)) ?? []);
  }
}

type TaskListFilter = Pick<TaskListQuery, "contextId" | "status" | "statusSince">;

function getListName(state: TaskState, contextId?: string): string {
  return contextId === undefined ? state : `${state} ${contextId}`;
}

/** Returns the index of the task that comes first in a task list, or -1 without tasks. */
function findNewest(tasks: readonly (TaskListCursor | undefined)[]): number {
  let found = -1;
  for (const [at, task] of tasks.entries()) {
    const newest = tasks[found];
    if (task && (!newest || compareTaskPositions(task, newest) > 0)) found = at;
  }
  return found;
}

/** Compares two tasks by status time and task id. Task lists have the opposite order. */
function compareTaskPositions(a: TaskListCursor, b: TaskListCursor): number {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? -1 : 1;
  if (a.taskId === b.taskId) return 0;
  return a.taskId < b.taskId ? -1 : 1;
}
