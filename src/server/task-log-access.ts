import {
  isAgentInScope,
  isContextInScope,
  type ContextScope,
  type TaskScope,
  type Caller,
} from "../engine/index.ts";
import { A2AError, type LogEvent } from "../protocol/index.ts";
import type { ServerStore, TaskOverviewEntry, TaskOverviewQuery } from "./resolve-store.ts";

/** Conditions and position of a task list. */
export type TaskListConditions = Omit<TaskOverviewQuery, "scopes">;

/** A task in a list, with the first event of its log, which usually contains the first message. */
export interface ListedTask extends TaskOverviewEntry {
  /** Absent if the store has deleted the events of the task. */
  readonly firstEvent?: LogEvent;
}

export interface ListedTaskPage {
  readonly tasks: readonly ListedTask[];
  readonly hasMore: boolean;
}

/** Reads the tasks of one caller from the store. */
export interface TaskLogAccess {
  /** Whether lists may have the condition `text`. */
  readonly searchesText: boolean;
  /** Returns a page of the caller's tasks, with the newest status first. */
  list(conditions: TaskListConditions): Promise<ListedTaskPage>;
  /**
   * Returns the events of a task after the sequence number `after`, in order. The list is empty for other callers'
   * tasks, for deleted events, and after the last event. A list contains at most 512 events.
   */
  readEvents(agentId: string, taskId: string, after: number): Promise<readonly LogEvent[]>;
}

const FIRST_EVENT_LIMIT = { events: 1, maxBytes: 64 * 1024 };
const EVENT_PAGE_LIMIT = { events: 512, maxBytes: 4 * 1024 * 1024 };

/** Creates the access to the tasks of one caller. Each query names the scopes of the caller, and no other scopes. */
export function createTaskLogAccess(
  store: ServerStore,
  owner: Pick<TaskScope, "tenant" | "principal">,
  agentIds: readonly string[],
): TaskLogAccess {
  const toScope = (agent: string): TaskScope => ({
    tenant: owner.tenant,
    principal: owner.principal,
    agent,
  });
  return {
    searchesText: store.overview?.textIndex?.isStarted ?? false,
    list: (conditions) => {
      const { agent } = conditions;
      const agents = agent === undefined ? agentIds : agentIds.filter((id) => id === agent);
      return listTasksWithFirstEvents(store, { ...conditions, scopes: agents.map(toScope) });
    },
    readEvents: (agentId, taskId, after) =>
      store.readEvents(toScope(agentId), taskId, after, EVENT_PAGE_LIMIT),
  };
}

/**
 * Limits the access of a caller to a context scope. Lists require a `contextId`. `findContextId` returns the context of
 * one of the caller's tasks.
 */
export function limitTaskLogAccess(
  access: TaskLogAccess,
  scope: ContextScope,
  findContextId: (agentId: string, taskId: string) => Promise<string | undefined>,
): TaskLogAccess {
  return {
    searchesText: access.searchesText,
    list: async (conditions) => {
      const { agent, contextId } = conditions;
      if (agent === undefined || contextId === undefined)
        throw new A2AError(
          "PERMISSION_DENIED",
          "The credentials are limited to some contexts; list the tasks of one agent and one context.",
        );
      const isListed = isAgentInScope(scope, agent) && isContextInScope(scope, contextId);
      return isListed ? await access.list(conditions) : { tasks: [], hasMore: false };
    },
    readEvents: async (agentId, taskId, after) => {
      if (!isAgentInScope(scope, agentId)) return [];
      const contextId = await findContextId(agentId, taskId);
      const isReadable = contextId !== undefined && isContextInScope(scope, contextId);
      return isReadable ? await access.readEvents(agentId, taskId, after) : [];
    },
  };
}

/** Returns a page of the store's overview, with the first event of each task. */
export async function listTasksWithFirstEvents(
  store: ServerStore,
  query: TaskOverviewQuery,
): Promise<ListedTaskPage> {
  const { overview } = store;
  if (!overview)
    throw new A2AError(
      "UNSUPPORTED_OPERATION",
      `The task store ${store.name} has no task overview; use the memory, SQLite, or PostgreSQL store.`,
    );
  if (query.text !== undefined && !overview.textIndex?.isStarted)
    throw new A2AError(
      "UNSUPPORTED_OPERATION",
      `The task store ${store.name} has no text index; remove the text from the query.`,
    );
  const { tasks, hasMore } = await overview.list(query);
  const listed = await Promise.all(
    tasks.map(async (task): Promise<ListedTask> => {
      const [firstEvent] = await store.readEvents(task.scope, task.taskId, 0, FIRST_EVENT_LIMIT);
      return firstEvent ? { ...task, firstEvent } : task;
    }),
  );
  return { tasks: listed, hasMore };
}

/** Accesses the agents of a server on behalf of an authenticated caller. */
export interface CallerAgentAccess {
  readonly caller: Caller;
  /** Base URL of the agents. Only the `fetch` function of the caller context can reach this URL. */
  readonly url: string;
  /** Sends a request from the caller to the server, without a network connection. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Reads the caller's tasks from the task store. */
  readonly tasks: TaskLogAccess;
}
