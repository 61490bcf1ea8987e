import type { MemoryScopeRegistry } from "./memory-scope-registry.ts";
import type { MemoryTaskLog } from "./memory-task-log.ts";
import type { MemoryTextIndex } from "./memory-text-index.ts";
import { getScopeKey } from "./task-owner-scope-key.ts";
import type { TaskOverview, TaskOverviewEntry, TaskOverviewPage, TaskOverviewQuery } from "./server-store.ts";

/** Creates the overview of a memory store. The first list loads the code that selects the tasks of a page. */
export function createMemoryTaskOverview(
  scopes: MemoryScopeRegistry,
  findTextIndex: () => MemoryTextIndex | undefined,
  startTextIndex: () => Promise<void>,
): TaskOverview {
  return {
    textIndex: {
      get isStarted() {
        return findTextIndex() !== undefined;
      },
      start: startTextIndex,
    },
    list: async (query) => listMemoryOverview(scopes, findTextIndex(), query),
    findScope: async (agent, taskId) => {
      for (const { scope, logs } of scopes.listScopes())
        if (scope.agent === agent && logs.get(taskId)) return scope;
      return undefined;
    },
  };
}

async function listMemoryOverview(
  scopes: MemoryScopeRegistry,
  textIndex: MemoryTextIndex | undefined,
  query: TaskOverviewQuery,
): Promise<TaskOverviewPage> {
  const { selectOverviewPage } = await import("./select-overview-page.ts");
  const scopeKeys = query.scopes && new Set(query.scopes.map(getScopeKey));
  const { logs, hasMore } = selectOverviewPage([...scopes.listLogs()], query, scopeKeys, textIndex);
  return { tasks: logs.map(toOverviewEntry), hasMore };
}

function toOverviewEntry(log: MemoryTaskLog): TaskOverviewEntry {
  const { scopeData, taskId, contextId, state, timestamp } = log;
  return { scope: scopeData.scope, taskId, contextId, state, timestamp, seq: log.seq };
}
