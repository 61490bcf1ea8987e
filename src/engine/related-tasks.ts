import { copyTask, isInterrupted, type Task, type TaskState } from "../protocol/index.ts";
import { type ContextScope, isContextInScope, type TaskScope } from "./caller.ts";
import type { TaskRegistry } from "./task-registry.ts";
import type { TaskStore } from "./task-store.ts";
import type { Turn } from "./turn.ts";

/**
 * Maximum number of tasks that one call loads. The limit is needed because each task requires a store lookup,
 * and a request can reference any number of tasks.
 */
const MAX_RELATED_TASKS = 50;

const STATES_AWAITING_USER: readonly TaskState[] = ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"];

/** Resolves with copies of the tasks to which the message of a turn refers. `scope` is the scope of the caller. */
export async function loadReferencedTasks(
  registry: TaskRegistry,
  scope: TaskScope,
  { message: { referenceTaskIds = [] }, caller: { contextScope } }: Turn,
): Promise<Task[]> {
  const tasks: Task[] = [];
  for (const id of [...new Set(referenceTaskIds)].slice(0, MAX_RELATED_TASKS)) {
    const task = (await registry.read(scope, id))?.task;
    if (task && mayRead(contextScope, task)) tasks.push(copyTask(task));
  }
  return tasks;
}

/** Resolves with copies of the other tasks in the context of a turn that wait for their user, newest first. */
export async function listInterruptedTasks(
  store: TaskStore,
  scope: TaskScope,
  { message: { taskId, contextId = "" } }: Turn,
): Promise<Task[]> {
  const pages = await Promise.all(
    STATES_AWAITING_USER.map((status) => store.list(scope, { contextId, status, limit: MAX_RELATED_TASKS })),
  );
  return pages
    .flatMap(({ tasks }) => tasks)
    .filter(({ id, status }) => id !== taskId && isInterrupted(status.state))
    .toSorted((a, b) => compareTimestampsNewestFirst(a.status.timestamp, b.status.timestamp))
    .slice(0, MAX_RELATED_TASKS)
    .map((task) => copyTask(task));
}

function mayRead(contextScope: ContextScope | undefined, { contextId }: Task): boolean {
  return contextScope === undefined || isContextInScope(contextScope, contextId);
}

function compareTimestampsNewestFirst(a = "", b = ""): number {
  return a === b ? 0 : a < b ? 1 : -1;
}
