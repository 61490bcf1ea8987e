import {
  A2AError,
  fromBase64,
  toBase64,
  type ListTasksRequest,
  type ListTasksResponse,
  type Task,
} from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { Clock } from "./clock.ts";
import { listTasksOfContexts } from "./list-tasks-of-contexts.ts";
import { limitHistory } from "./limit-history.ts";
import type { TaskListCursor } from "./task-list-cursor.ts";
import type { TaskListQuery, TaskStore } from "./task-store.ts";

const DEFAULT_PAGE_SIZE = 50;

/**
 * Returns one page of the caller's tasks, with the newest status first (ListTasks, A2A §3.1.4). A page of more than
 * `maxBytes` of JSON ends early, and its `nextPageToken` continues the list. If `contextIds` is set, the list contains
 * only tasks in these contexts.
 */
export async function listTasks(
  store: TaskStore,
  scope: TaskScope,
  request: ListTasksRequest,
  maxBytes: number,
  clock: Clock,
  contextIds?: readonly string[],
): Promise<ListTasksResponse> {
  const pageSize = request.pageSize ?? DEFAULT_PAGE_SIZE;
  const filter = toTaskListFilter(request);
  const after = request.pageToken ? decodePageToken(request.pageToken, filter) : undefined;
  const query = {
    ...filter,
    ...(after ? { after } : {}),
    limit: pageSize,
    maxBytes,
    includeArtifacts: request.includeArtifacts ?? false,
  };
  const page = await (contextIds
    ? listTasksOfContexts(store, scope, query, contextIds)
    : store.list(scope, query));
  // Reading and encoding a large page both block the event loop. Other requests run in between.
  await new Promise<void>((resolve) => clock.scheduleTurn(resolve));
  return {
    tasks: page.tasks.map((task) => selectTaskFields(task, request)),
    nextPageToken: page.hasMore ? encodePageToken(page.tasks, filter) : "",
    pageSize,
    totalSize: page.total,
  };
}

type TaskListFilter = Pick<TaskListQuery, "contextId" | "status" | "statusSince">;

function toTaskListFilter({ contextId, status, statusTimestampAfter }: ListTasksRequest): TaskListFilter {
  return {
    ...(contextId ? { contextId } : {}),
    ...(status ? { status } : {}),
    ...(statusTimestampAfter ? { statusSince: statusTimestampAfter } : {}),
  };
}

function selectTaskFields(task: Task, request: ListTasksRequest): Task {
  const { artifacts, ...rest } = limitHistory(task, request.historyLength);
  return request.includeArtifacts ? { ...rest, artifacts: artifacts ?? [] } : rest;
}

/** Returns a page token, which contains the filter of the list and the position of the page's last task. */
function encodePageToken(tasks: Task[], filter: TaskListFilter): string {
  const last = tasks.at(-1);
  const position = [last?.status.timestamp ?? "", last?.id ?? "", formatFilterKey(filter)];
  const base64 = toBase64(new TextEncoder().encode(JSON.stringify(position)));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decodePageToken(token: string, filter: TaskListFilter): TaskListCursor {
  const [timestamp, taskId, filterKey] = parsePageToken(token);
  if (typeof timestamp !== "string" || typeof taskId !== "string")
    throw createPageTokenError("was not issued by this server");
  if (filterKey !== formatFilterKey(filter))
    throw createPageTokenError("belongs to a list with different filters");
  return { timestamp, taskId };
}

function parsePageToken(token: string): unknown[] {
  try {
    const position: unknown = JSON.parse(new TextDecoder().decode(fromBase64(token)));
    return Array.isArray(position) ? position : [];
  } catch {
    return [];
  }
}

function formatFilterKey({ contextId, status, statusSince }: TaskListFilter): string {
  return [contextId, status, statusSince].map((value) => value ?? "").join("|");
}

export function createPageTokenError(reason: string): A2AError {
  return A2AError.invalidParams([
    { field: "pageToken", description: `${reason}; omit it to start with the first page` },
  ]);
}
