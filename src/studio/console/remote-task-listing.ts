import type { A2AClient } from "../../client/index.ts";
import { A2AError, isObject, type JsonValue, type Task } from "../../protocol/index.ts";
import type { PositionedTask, TaskListFilter, TaskListing } from "./agent-source.ts";
import { formatPreview } from "./list-tasks.ts";

/** Maximum number of pages that the console requests from the agent to fill one page of the console. */
const MAX_PAGES = 5;

/** Position in the list of an agent: a page token of the agent, and the number of tasks to skip on its page. */
interface RemotePosition {
  readonly token: string;
  readonly skip: number;
}

/**
 * Lists the tasks of a remote agent with ListTasks (A2A §3.1.4). Agents without the operation, such as agents of A2A 0.3,
 * have the list of the tasks that the console has observed. An agent that refuses the operation, for example because it
 * requires a user, has this list together with the problem.
 */
export function createRemoteTaskListing(
  agentId: string,
  openClient: () => Promise<A2AClient>,
  observed: TaskListing,
): TaskListing {
  return {
    ...observed,
    list: async (filter, position, limit) => {
      if (Array.isArray(position)) return await observed.list(filter, position, limit);
      try {
        const client = await openClient();
        if (client.agentInterface.protocolVersion.startsWith("0."))
          return await observed.list(filter, position, limit);
        return await listRemoteTasks(agentId, client, filter, decodePosition(position), limit);
      } catch (error) {
        if (!(error instanceof A2AError) || position !== undefined) throw error;
        const page = await observed.list(filter, position, limit);
        return UNSUPPORTED_REASONS.has(error.reason) ? page : { ...page, problem: error.message };
      }
    },
  };
}

const UNSUPPORTED_REASONS: ReadonlySet<string> = new Set(["UNSUPPORTED_OPERATION", "METHOD_NOT_FOUND"]);

async function listRemoteTasks(
  agentId: string,
  client: A2AClient,
  filter: TaskListFilter,
  { token, skip }: RemotePosition,
  limit: number,
): Promise<{ tasks: PositionedTask[]; hasMore: boolean }> {
  const tasks: PositionedTask[] = [];
  let pageToken = token;
  let skipped = skip;
  for (let page = 0; page < MAX_PAGES; page++) {
    const listed = await client.tasks.list({
      pageSize: Math.min(100, limit + skipped),
      historyLength: 1,
      ...(pageToken === "" ? {} : { pageToken }),
      ...(filter.context === undefined ? {} : { contextId: filter.context }),
      ...(filter.state === undefined ? {} : { status: filter.state }),
      ...(filter.from === undefined ? {} : { statusTimestampAfter: new Date(filter.from).toISOString() }),
    });
    for (const [at, task] of listed.tasks.entries()) {
      if (at < skipped || !isBefore(task, filter.to)) continue;
      if (tasks.length === limit) return { tasks, hasMore: true };
      tasks.push(toPositionedTask(agentId, task, { token: pageToken, skip: at + 1 }));
    }
    skipped = 0;
    pageToken = listed.nextPageToken;
    if (pageToken === "" || listed.tasks.length === 0) return { tasks, hasMore: false };
    if (tasks.length === limit) return { tasks, hasMore: true };
  }
  return { tasks, hasMore: tasks.length > 0 };
}

function isBefore({ status }: Task, to: string | undefined): boolean {
  return to === undefined || Date.parse(status.timestamp ?? "") <= Date.parse(to);
}

function toPositionedTask(agent: string, task: Task, position: RemotePosition): PositionedTask {
  const { id, contextId, status, history = [] } = task;
  return {
    position: { ...position },
    summary: {
      agent,
      id,
      contextId,
      state: status.state,
      updatedAt: status.timestamp ?? "",
      preview: formatPreview(status.message, history.at(-1)),
    },
  };
}

function decodePosition(position: JsonValue | undefined): RemotePosition {
  if (position === undefined) return { token: "", skip: 0 };
  if (isObject(position)) {
    const { token, skip } = position;
    if (typeof token === "string" && typeof skip === "number") return { token, skip };
  }
  throw A2AError.invalidParams([{ field: "pageToken", description: "was not issued by this console" }]);
}
