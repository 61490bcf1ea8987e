import {
  type A2AClient,
  type CardVerifier,
  connect,
  type ConnectOptions,
  findCard,
} from "../../client/index.ts";
import { A2AError, estimateJsonSize, isObject, type JsonValue, type Task } from "../../protocol/index.ts";
import { getRecordedAgentName } from "../../observe/trace/index.ts";
import { createGuardedFetch } from "../../server/index.ts";
import type { AgentSource, PositionedTask, TaskListFilter, TaskListing } from "./agent-source.ts";
import { withConsoleUserAgent } from "./console-reads.ts";
import type { CardBudget } from "./card-budget.ts";
import { createConnectedAgentSource, isReadAction } from "./connected-agent-source.ts";
import { createObservedTaskListing } from "./observed-tasks.ts";
import { withCuttableStreams } from "./stream-operation.ts";
import type { Workspace } from "./workspace.ts";
import { formatPreview } from "./list-tasks.ts";

/** Rules for the URL of a remote agent, and for its card. */
export interface RemoteUrlRules {
  /**
   * Private hosts that the console may call, or `true` for all. Hosts on the public internet are always allowed. See
   * `allowPrivate` of push notifications.
   */
  readonly allowPrivate: boolean | readonly string[];
  /** Verifies cards with the keys that the operator of the console trusts. */
  readonly verifyWithTrustedKeys?: CardVerifier | undefined;
}

/** A remote agent of a workspace. */
export interface RemoteAgent {
  readonly url: string;
  readonly source: AgentSource;
  readonly listing: TaskListing;
  /** Forgets the connection, so that the next request uses the current credentials. */
  reconnect(): void;
}

/** The user of a remote agent. */
interface RemoteAgentOwner {
  readonly workspace: Workspace;
  /** Limits the cards of the agents that the user has added. Undefined for agents of the operator. */
  readonly cardBudget: CardBudget | undefined;
}

/** Creates a remote agent. The console connects to the agent with the first request. */
export function createRemoteAgent(
  id: string,
  url: string,
  { allowPrivate, verifyWithTrustedKeys }: RemoteUrlRules,
  { workspace, cardBudget }: RemoteAgentOwner,
): RemoteAgent {
  const { record, journal, readModel, credentials } = workspace;
  const fetchFunction = allowPrivate === true ? fetch : createGuardedFetch({ allowPrivate });
  const options = (): ConnectOptions => {
    const auth = credentials.createClientAuth(id);
    const headers = credentials.getHeaders(id);
    const cuttableFetch = withConsoleUserAgent(withCuttableStreams(fetchFunction));
    return {
      fetch: cuttableFetch,
      allowOlderVersion: true,
      ...(auth && { auth }),
      ...(headers && { headers }),
    };
  };
  const clients = new Map<boolean, Promise<A2AClient>>();
  /** Connects once with and once without the record. Reads are not part of the record, because pages repeat them. */
  const openClient = async (isRecorded: boolean): Promise<A2AClient> => {
    let client = clients.get(isRecorded);
    if (!client) {
      client = connect(url, isRecorded ? { ...options(), record } : options());
      clients.set(isRecorded, client);
    }
    try {
      const opened = await client;
      if (allowPrivate !== true) assertGuarded(opened);
      // The console keeps two clients, which share the card's size but not the card.
      cardBudget?.reserve(id, 2 * estimateJsonSize(opened.card));
      return opened;
    } catch (error) {
      clients.delete(isRecorded);
      throw error;
    }
  };
  let name: string | undefined;
  const observed = createObservedTaskListing(
    id,
    workspace.readModel,
    ({ agent }) => agent !== undefined && agent === name,
  );
  const source = createConnectedAgentSource({
    id,
    url,
    isOwn: false,
    readModel,
    listCredentials: () => credentials.listSchemeNames(id),
    openClient: async (action) => {
      const client = await openClient(!isReadAction(action));
      if (action === "read card") await client.refreshCard();
      return client;
    },
    findName: ({ card, agentInterface }) =>
      (name = getRecordedAgentName(record, card.name, agentInterface.url)),
    cardKeySources: { verifyWithTrustedKeys, fetch: fetchFunction },
    findServedCard: () => findCard(url, options()),
    readTaskLines: async function* (taskId) {
      for (const { text } of journal.listTaskLines(taskId)) yield text;
    },
    onConnectionError: () => clients.clear(),
  });
  return {
    url,
    source,
    listing: createRemoteTaskListing(id, () => openClient(false), observed),
    reconnect: () => {
      clients.clear();
      source.forgetError();
    },
  };
}

/** Throws if the connection would avoid the guard, which works only for `fetch`. */
function assertGuarded({ agentInterface }: A2AClient): void {
  if (agentInterface.protocolBinding !== "GRPC") return;
  throw new A2AError(
    "PERMISSION_DENIED",
    "The agent offers only gRPC, and this console calls only HTTP, because it calls no private hosts; allow private hosts (--allow-private-agents, or allowPrivate of createConsole).",
  );
}

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
function createRemoteTaskListing(
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
