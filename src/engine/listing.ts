import {
  A2AError,
  fromBase64,
  toBase64,
  type ListTasksRequest,
  type ListTasksResponse,
  type Task,
} from "../protocol/index.ts";
import type { Scope } from "./caller.ts";
import { withHistory } from "./history.ts";
import type { ListCursor, ListQuery, TaskStore } from "./store.ts";

const DEFAULT_PAGE = 50;

/** ListTasks (A2A §3.1.4): the caller's tasks, newest status first. */
export async function listTasks(
  store: TaskStore,
  scope: Scope,
  request: ListTasksRequest,
): Promise<ListTasksResponse> {
  const pageSize = request.pageSize ?? DEFAULT_PAGE;
  const filter = filterOf(request);
  const after = request.pageToken ? decodeToken(request.pageToken, filter) : undefined;
  const page = await store.list(scope, { ...filter, ...(after ? { after } : {}), limit: pageSize });
  return {
    tasks: page.tasks.map((task) => view(task, request)),
    nextPageToken: page.more ? encodeToken(page.tasks, filter) : "",
    pageSize,
    totalSize: page.total,
  };
}

type Filter = Pick<ListQuery, "contextId" | "status" | "since">;

function filterOf({ contextId, status, statusTimestampAfter }: ListTasksRequest): Filter {
  return {
    ...(contextId ? { contextId } : {}),
    ...(status ? { status } : {}),
    ...(statusTimestampAfter ? { since: statusTimestampAfter } : {}),
  };
}

function view(task: Task, request: ListTasksRequest): Task {
  const { artifacts, ...rest } = withHistory(task, request.historyLength);
  return request.includeArtifacts ? { ...rest, artifacts: artifacts ?? [] } : rest;
}

/** A token is the place behind the page's last task, and the filter that it belongs to. */
function encodeToken(tasks: Task[], filter: Filter): string {
  const last = tasks.at(-1);
  const place = [last?.status.timestamp ?? "", last?.id ?? "", fingerprint(filter)];
  const base64 = toBase64(new TextEncoder().encode(JSON.stringify(place)));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decodeToken(token: string, filter: Filter): ListCursor {
  const [timestamp, taskId, of] = parseToken(token);
  if (typeof timestamp !== "string" || typeof taskId !== "string")
    throw invalidToken("is not a token of this server");
  if (of !== fingerprint(filter)) throw invalidToken("belongs to a list with other filters");
  return { timestamp, taskId };
}

function parseToken(token: string): unknown[] {
  try {
    const place: unknown = JSON.parse(new TextDecoder().decode(fromBase64(token)));
    return Array.isArray(place) ? place : [];
  } catch {
    return [];
  }
}

function fingerprint({ contextId, status, since }: Filter): string {
  return [contextId, status, since].map((value) => value ?? "").join("|");
}

function invalidToken(why: string): A2AError {
  return A2AError.invalidParams([
    { field: "pageToken", description: `${why}; leave it out to begin with the first page` },
  ]);
}
