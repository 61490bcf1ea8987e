import {
  A2AError,
  fromBase64,
  type ListTasksRequest,
  type ListTasksResponse,
  type Task,
  toBase64,
} from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { Clock } from "./clock.ts";
import { limitHistory } from "./message-response.ts";
import type { TaskListCursor, TaskListPage, TaskListQuery, TaskStore } from "./task-store.ts";

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

/**
 * Resolves with a page of the tasks in some contexts, in the order of `TaskStore.list`. Merges one page per context, so
 * the page contains at most `maxBytes` of JSON, or one task per context.
 */
async function listTasksOfContexts(
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
