import type { TaskListCursor } from "../engine/index.ts";
import type { MemoryTaskLog } from "./memory-task-log.ts";
import type { MemoryTextIndex } from "./memory-text-index.ts";
import { parseTextQuery } from "./task-words.ts";
import type { TaskOverviewQuery } from "./server-store.ts";

/**
 * Returns the tasks of one page of an overview, with the newest status first. Reads the status of every stored task, and
 * the content of none. `scopeKeys` contains the keys of the scopes in the query.
 */
export function selectOverviewPage(
  logs: readonly MemoryTaskLog[],
  query: TaskOverviewQuery,
  scopeKeys: ReadonlySet<string> | undefined,
  textIndex: MemoryTextIndex | undefined,
): { readonly logs: readonly MemoryTaskLog[]; readonly hasMore: boolean } {
  const { limit, text } = query;
  const textQuery = text === undefined ? undefined : parseTextQuery(text);
  // A text without words matches no task.
  if (text !== undefined && !textQuery) return { logs: [], hasMore: false };
  const candidates = logs
    .filter((log) => (scopeKeys?.has(log.scopeData.key) ?? true) && matchesQuery(log, query))
    .toSorted(compareNewestFirst);
  const page: MemoryTaskLog[] = [];
  for (const log of candidates) {
    if (page.length > limit) break;
    if (!textQuery || textIndex?.matches(log, textQuery)) page.push(log);
  }
  return { logs: page.slice(0, limit), hasMore: page.length > limit };
}

function matchesQuery(
  log: MemoryTaskLog,
  { scopes, agent, contextId, status, statusSince, statusUntil, after }: TaskOverviewQuery,
): boolean {
  const { timestamp } = log;
  return (
    (scopes !== undefined || agent === undefined || log.scopeData.scope.agent === agent) &&
    (contextId === undefined || log.contextId === contextId) &&
    (status === undefined || log.state === status) &&
    (statusSince === undefined || timestamp >= statusSince) &&
    (statusUntil === undefined || timestamp <= statusUntil) &&
    (after === undefined || compareNewestFirst(log, after) > 0)
  );
}

function compareNewestFirst(a: TaskListCursor, b: TaskListCursor): number {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? 1 : -1;
  if (a.taskId === b.taskId) return 0;
  return a.taskId < b.taskId ? 1 : -1;
}
