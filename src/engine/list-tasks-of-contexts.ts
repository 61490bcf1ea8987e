import type { Task } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { TaskListPage, TaskListQuery, TaskStore } from "./task-store.ts";

/**
 * Resolves with a page of the tasks in some contexts, in the order of `TaskStore.list`. Merges one page per context, so
 * the page contains at most `maxBytes` of JSON, or one task per context.
 */
export async function listTasksOfContexts(
  store: TaskStore,
  scope: TaskScope,
  query: TaskListQuery,
  contextIds: readonly string[],
): Promise<TaskListPage> {
  const { limit, maxBytes } = query;
  const share =
    maxBytes === undefined ? {} : { maxBytes: Math.ceil(maxBytes / Math.max(1, contextIds.length)) };
  const pages = await Promise.all(
    contextIds.map((contextId) => store.list(scope, { ...query, ...share, contextId })),
  );
  const merged = pages.flatMap(({ tasks }) => tasks).toSorted(compareListPositions);
  const tasks = merged.slice(0, Math.min(limit, countCompleteTasks(merged, pages)));
  return {
    tasks,
    hasMore: tasks.length < merged.length || pages.some(({ hasMore }) => hasMore),
    total: pages.reduce((sum, { total }) => sum + total, 0),
  };
}

/**
 * Returns the number of merged tasks before which no task is missing. After the last task of an incomplete page, the
 * next task of its context is unknown.
 */
function countCompleteTasks(merged: readonly Task[], pages: readonly TaskListPage[]): number {
  const ends = pages.flatMap(({ tasks, hasMore }) => (hasMore ? (tasks.at(-1) ?? []) : []));
  const firstEnd = ends.toSorted(compareListPositions)[0];
  return firstEnd ? merged.findIndex((task) => task === firstEnd) + 1 : merged.length;
}

/** Compares two tasks by status time and id, both in descending order. */
function compareListPositions(a: Task, b: Task): number {
  const [timeA = "", timeB = ""] = [a.status.timestamp, b.status.timestamp];
  if (timeA !== timeB) return timeA < timeB ? 1 : -1;
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1;
}
