import type {
  TaskListCursor,
  TaskOverview,
  TaskOverviewEntry,
  TaskOverviewPage,
  TaskOverviewQuery,
} from "../engine/index.ts";
import type { MemoryScopeRegistry } from "./memory-scope-registry.ts";
import { getLastSeq, type MemoryTaskLog } from "./memory-task-log.ts";
import type { MemoryTextIndex } from "./memory-text-index.ts";
import { getScopeKey } from "./task-owner-scope-key.ts";
import { parseTextQuery } from "./task-words.ts";

/** Creates the overview of a memory store. A list reads the status of every stored task, and the content of none. */
export function createMemoryTaskOverview(
  scopes: MemoryScopeRegistry,
  textIndex: MemoryTextIndex,
  startTextIndex: () => void,
): TaskOverview {
  return {
    get searchesText() {
      return textIndex.isStarted;
    },
    startTextIndex: async () => startTextIndex(),
    prepareForAllCallers: async () => {},
    list: async (query) => listMemoryOverview(scopes, textIndex, query),
    findScope: async (agent, taskId) => {
      for (const { scope, logs } of scopes.listScopes())
        if (scope.agent === agent && logs.get(taskId)) return scope;
      return undefined;
    },
  };
}

function listMemoryOverview(
  scopes: MemoryScopeRegistry,
  textIndex: MemoryTextIndex,
  query: TaskOverviewQuery,
): TaskOverviewPage {
  const { limit, text } = query;
  const textQuery = text === undefined ? undefined : parseTextQuery(text);
  // A text without words matches no task.
  if (text !== undefined && !textQuery) return { tasks: [], hasMore: false };
  const scopeKeys = query.scopes && new Set(query.scopes.map(getScopeKey));
  const candidates = [...scopes.listLogs()]
    .filter((log) => (scopeKeys?.has(log.scopeData.key) ?? true) && matchesQuery(log, query))
    .toSorted(compareNewestFirst);
  const page: MemoryTaskLog[] = [];
  for (const log of candidates) {
    if (page.length > limit) break;
    if (!textQuery || textIndex.matches(log, textQuery)) page.push(log);
  }
  return { tasks: page.slice(0, limit).map(toOverviewEntry), hasMore: page.length > limit };
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

function toOverviewEntry(log: MemoryTaskLog): TaskOverviewEntry {
  const { scopeData, taskId, contextId, state, timestamp } = log;
  return { scope: scopeData.scope, taskId, contextId, state, timestamp, seq: getLastSeq(log) };
}
