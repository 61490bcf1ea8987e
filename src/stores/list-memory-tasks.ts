import type { TaskListPage, TaskListQuery } from "../engine/index.ts";
import { estimateJsonSize, type Task } from "../protocol/index.ts";
import { MemoryTaskListIndex } from "./memory-task-list-index.ts";
import { foldCurrentTask, type MemoryScopeData, type MemoryTaskLog } from "./memory-task-log.ts";

/** Returns one page of the tasks of a scope. Reads only the tasks of the page, and the task that exceeds its limit. */
export function listMemoryTasks(
  scopeData: MemoryScopeData,
  { after, limit, maxBytes = Infinity, includeArtifacts = false, ...filter }: TaskListQuery,
): TaskListPage {
  const index = getOrCreateListIndex(scopeData);
  const tasks: Task[] = [];
  let bytes = 0;
  let hasMore = false;
  for (const log of index.values(filter, after)) {
    hasMore = tasks.length === limit;
    if (hasMore) break;
    const task = foldListedTask(log, includeArtifacts);
    bytes += estimateJsonSize(task);
    hasMore = bytes > maxBytes && tasks.length > 0;
    if (hasMore) break;
    tasks.push(task);
  }
  return { tasks, hasMore, total: index.count(filter) };
}

/**
 * Returns the list index of a scope. The first list of a scope creates the index, because most scopes never need
 * it.
 */
function getOrCreateListIndex(scopeData: MemoryScopeData): MemoryTaskListIndex<MemoryTaskLog> {
  if (scopeData.listIndex) return scopeData.listIndex;
  scopeData.listIndex = new MemoryTaskListIndex();
  for (const log of scopeData.logs.values()) scopeData.listIndex.add(log);
  return scopeData.listIndex;
}

/** Returns a copy of the current task, as a task list shows it. */
function foldListedTask(log: MemoryTaskLog, includeArtifacts: boolean): Task {
  const task = foldCurrentTask(log);
  if (includeArtifacts) return task;
  const { artifacts: _, ...rest } = task;
  return rest;
}
