import { connect, findCard, type CardVerifier } from "../../client/index.ts";
import { A2AError, isObject, type JsonValue } from "../../protocol/index.ts";
import type {
  CallerAgentAccess,
  ListedTask,
  ListedTaskPage,
  OperatorAccess,
  TaskListConditions,
} from "../../server/index.ts";
import type {
  AgentSource,
  PositionedTask,
  PositionedTaskPage,
  TaskListFilter,
  TaskListing,
} from "./agent-source.ts";
import { createConnectedAgentSource, isReadAction } from "./connected-agent-source.ts";
import { withConsoleUserAgent } from "./console-reads.ts";
import { compareNewestFirst, formatPreview } from "./list-tasks.ts";
import { readLogLines } from "./log-lines.ts";
import { withCuttableStreams } from "./stream-operation.ts";
import type { Workspace } from "./workspace.ts";

/** The server that has mounted the console, as one user may use it. */
export interface OwnServer {
  /** URL of the server, as the user has reached it. */
  readonly publicUrl: string;
  /** Whether the user sees the tasks of all callers. */
  readonly isOperator: boolean;
  /** Access for requests that concern no existing task. */
  readonly access: CallerAgentAccess;
  /** Returns access to a task. Accesses of operators are reported. */
  accessTask(agentId: string, taskId: string, action: string): Promise<CallerAgentAccess>;
  listTasks(conditions: TaskListConditions): Promise<ListedTaskPage>;
  /** Whether the store searches the text of tasks. */
  readonly searchesText: boolean;
  /** Reports that an operator watches the events of all callers. */
  reportWatch(): void;
}

/** Creates the access of a caller, who sees only their own tasks. */
export function createOwnServerOfCaller(access: CallerAgentAccess, publicUrl: string): OwnServer {
  return {
    publicUrl,
    isOperator: false,
    access,
    accessTask: async () => access,
    listTasks: (conditions) => access.tasks.list(conditions),
    searchesText: access.tasks.searchesText,
    reportWatch: () => {},
  };
}

/** Creates the access of an operator, who sees the tasks of all callers. */
export function createOwnServerOfOperator(operator: OperatorAccess, publicUrl: string): OwnServer {
  return {
    publicUrl,
    isOperator: true,
    access: operator.access,
    accessTask: (agentId, taskId, action) => operator.accessTask(agentId, taskId, action),
    listTasks: (conditions) => operator.listTasks(conditions),
    searchesText: operator.access.tasks.searchesText,
    reportWatch: () => operator.reportAction("watch events"),
  };
}

/** Id of the list with the tasks of all agents of the own server. */
const OWN_LISTING_ID = "";

/** Creates the list of the tasks of the own server. */
export function createOwnTaskListing(server: OwnServer, agentIds: readonly string[]): TaskListing {
  return {
    id: OWN_LISTING_ID,
    searchesText: server.searchesText,
    hasAgent: (agentId) => agentIds.includes(agentId),
    list: async (filter, position, limit) =>
      filter.state === "TASK_STATE_WORKING"
        ? await listWorkingTasks(server, filter, position, limit)
        : await listStoredTasks(server, filter, position, limit),
  };
}

async function listStoredTasks(
  server: OwnServer,
  { agent, state, context, text, from, to }: TaskListFilter,
  position: JsonValue | undefined,
  limit: number,
): Promise<PositionedTaskPage> {
  const { tasks, hasMore } = await server.listTasks({
    limit,
    ...(agent === undefined ? {} : { agent }),
    ...(state === undefined ? {} : { status: state }),
    ...(context === undefined ? {} : { contextId: context }),
    ...(text === undefined ? {} : { text }),
    ...(from === undefined ? {} : { statusSince: toIsoTime("from", from) }),
    ...(to === undefined ? {} : { statusUntil: toIsoTime("to", to) }),
    ...(position === undefined ? {} : { after: decodePosition(position) }),
  });
  return { tasks: tasks.map((task) => toPositionedTask(task, server.isOperator)), hasMore };
}

/** Lists the tasks in the state WORKING, and the submitted tasks whose agents stream their answers. */
async function listWorkingTasks(
  server: OwnServer,
  filter: TaskListFilter,
  position: JsonValue | undefined,
  limit: number,
): Promise<PositionedTaskPage> {
  for (let after = position; ;) {
    const pages = await Promise.all(
      (["TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"] as const).map((state) =>
        listStoredTasks(server, { ...filter, state }, after, limit),
      ),
    );
    const stored = pages.flatMap(({ tasks }) => tasks).toSorted(compareNewestFirst);
    const page = stored.slice(0, limit);
    const hasMore = stored.length > limit || pages.some((one) => one.hasMore);
    const tasks = page.filter(({ summary }) => summary.state === "TASK_STATE_WORKING");
    if (tasks.length > 0 || !hasMore) return { tasks, hasMore };
    after = page.at(-1)?.position;
  }
}

/** Converts a time of a query to the format of the store. Throws INVALID_PARAMS if the text is no time. */
function toIsoTime(field: string, text: string): string {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  const description = `${JSON.stringify(text.slice(0, 40))} is no ISO 8601 time; use a time such as 2026-11-23T08:00:00Z`;
  throw A2AError.invalidParams([{ field, description }]);
}

function decodePosition(position: JsonValue): { timestamp: string; taskId: string } {
  if (isObject(position)) {
    const { timestamp, taskId } = position;
    if (typeof timestamp === "string" && typeof taskId === "string") return { timestamp, taskId };
  }
  throw A2AError.invalidParams([{ field: "pageToken", description: "was not issued by this console" }]);
}

function toPositionedTask(
  { scope, taskId, contextId, state, timestamp, seq, firstEvent }: ListedTask,
  isOperator: boolean,
): PositionedTask {
  const task = firstEvent && "task" in firstEvent.event ? firstEvent.event.task : undefined;
  const createdAt = task?.status.timestamp;
  return {
    position: { timestamp, taskId },
    summary: {
      agent: scope.agent,
      id: taskId,
      contextId,
      // An agent that streams its answer works, also without a status.
      state: state === "TASK_STATE_SUBMITTED" && seq > 1 ? "TASK_STATE_WORKING" : state,
      updatedAt: timestamp,
      ...(createdAt === undefined ? {} : { createdAt }),
      events: seq,
      preview: formatPreview(...(task?.history ?? []), task?.status.message),
      ...(isOperator ? { caller: formatCaller(scope) } : {}),
    },
  };
}

function formatCaller({
  tenant,
  principal,
}: {
  readonly tenant: string;
  readonly principal: string;
}): string {
  const name = principal === "" ? "anonymous" : principal;
  return tenant === "" ? name : `${tenant}/${name}`;
}

/** Returns a `fetch` function whose requests stay in the process. */
function toFetch(access: CallerAgentAccess): typeof fetch {
  return (input, init) => access.fetch(new Request(input, init));
}

interface OwnAgentOptions {
  /** Names of the agents by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly verifyWithTrustedKeys: CardVerifier | undefined;
}

/** Creates the source for an agent of the own server. */
export function createOwnAgentSource(
  id: string,
  server: OwnServer,
  { record, journal, readModel }: Workspace,
  { names, verifyWithTrustedKeys }: OwnAgentOptions,
): AgentSource {
  const path = `/a2a/${encodeURIComponent(id)}`;
  const url = server.access.url + path;
  return createConnectedAgentSource({
    id,
    url: server.publicUrl + path,
    isOwn: true,
    readModel,
    openClient: async (action, taskId) => {
      const access = taskId === undefined ? server.access : await server.accessTask(id, taskId, action);
      const fetchFunction = withConsoleUserAgent(withCuttableStreams(toFetch(access)));
      return await connect(url, { fetch: fetchFunction, ...(isReadAction(action) ? {} : { record }) });
    },
    cardKeySources: { verifyWithTrustedKeys, fetch: toFetch(server.access) },
    // The URLs of the card begin with the origin of the request.
    findServedCard: () =>
      findCard(new URL(server.publicUrl).origin + path, { fetch: toFetch(server.access) }),
    async *readTaskLines(taskId) {
      const { tasks } = await server.accessTask(id, taskId, "read events");
      yield* readLogLines(tasks, { agentId: id, taskId, agentName: names.get(id) ?? id }, journal);
    },
  });
}
