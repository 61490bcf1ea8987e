import type { TaskListPage, TaskListQuery, TaskScope } from "../../engine/index.ts";
import { STORED_TASK_STATES } from "../stored-task-states.ts";
import { encodeIdentifier } from "./encode-identifier.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { restoreStoredTask, restoreTaskWithoutArtifacts, toTaskContent } from "./restore-stored-task.ts";
import { computeScopeKey } from "./scope-key.ts";
import { COUNT_TASKS, COUNT_TASKS_OF_CONTEXT } from "./statements/count-tasks.ts";
import { LIST_TASKS, LIST_TASKS_OF_CONTEXT } from "./statements/list-tasks.ts";

/** Largest number of tasks that the store counts. Counting all of a million tasks would take longer than the page. */
export const MAX_COUNTED_POSTGRES_TASKS = 1000;

/** Sorts after every status time. */
const END_OF_TIMES = "~";

/** Lists committed tasks. The cost of a page does not depend on the number of stored tasks. */
export async function listPostgresTasks(
  connection: PostgresConnection,
  scope: TaskScope,
  query: TaskListQuery,
): Promise<TaskListPage> {
  const { contextId, status, statusSince = "", after, limit, maxBytes, includeArtifacts = false } = query;
  const scopeKey = computeScopeKey(scope);
  const states = status === undefined ? STORED_TASK_STATES : [status];
  const context: [contextId?: string] = contextId === undefined ? [] : [encodeIdentifier(contextId)];
  const [rows, [counted]] = await Promise.all([
    connection.query(contextId === undefined ? LIST_TASKS : LIST_TASKS_OF_CONTEXT, [
      scopeKey,
      states,
      statusSince,
      after?.timestamp ?? END_OF_TIMES,
      after ? encodeIdentifier(after.taskId) : "",
      limit,
      Math.min(maxBytes ?? Infinity, Number.MAX_SAFE_INTEGER),
      includeArtifacts,
      ...context,
    ]),
    connection.query(contextId === undefined ? COUNT_TASKS : COUNT_TASKS_OF_CONTEXT, [
      scopeKey,
      states,
      statusSince,
      MAX_COUNTED_POSTGRES_TASKS,
      ...context,
    ]),
  ]);
  const page = rows.filter(({ kind }) => kind === "page").toSorted((a, b) => a.seq - b.seq);
  const rowsByTask = Map.groupBy(rows, ({ key }) => key);
  const shown = page.filter(({ flag }) => flag);
  const tasks = shown.map(({ key }) => {
    const content = toTaskContent(rowsByTask.get(key) ?? []);
    return includeArtifacts ? restoreStoredTask(content).task : restoreTaskWithoutArtifacts(content);
  });
  return { tasks, hasMore: page.length > shown.length, total: counted?.count ?? 0 };
}
