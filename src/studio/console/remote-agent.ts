import {
  type A2AClient,
  type CardVerifier,
  connect,
  type ConnectOptions,
  findCard,
} from "../../client/index.ts";
import {
  A2AError,
  estimateJsonSize,
  isObject,
  isTerminal,
  type JsonValue,
  type Task,
  type TaskState,
} from "../../protocol/index.ts";
import { getRecordedAgentName, type TrafficModel, type TrafficTask } from "../../observe/trace/index.ts";
import { createGuardedFetch } from "../../server/index.ts";
import type { AgentSource, PositionedTask, TaskListFilter, TaskListing } from "./agent-source.ts";
import { withConsoleUserAgent } from "./console-reads.ts";
import type { CardBudget } from "./card-budget.ts";
import { createConnectedAgentSource, isReadAction } from "./connected-agent-source.ts";
import { findQuestion } from "../console-api/index.ts";
import { foldRecordedTask } from "./recorded-agents.ts";
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
  /** Names of the agents of the own server by id, whose observed tasks are not those of a remote agent. */
  readonly ownNames: ReadonlyMap<string, string>;
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
  { allowPrivate, verifyWithTrustedKeys, ownNames }: RemoteUrlRules,
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
      name = getRecordedAgentName(record, opened.card.name, opened.agentInterface.url);
      // The console keeps two clients, which share the card's size but not the card.
      cardBudget?.reserve(id, 2 * estimateJsonSize(opened.card));
      return opened;
    } catch (error) {
      clients.delete(isRecorded);
      throw error;
    }
  };
  let name: string | undefined;
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
    findName: () => name,
    cardKeySources: { verifyWithTrustedKeys, fetch: fetchFunction },
    findServedCard: () => findCard(url, options()),
    readTaskLines: async function* (taskId) {
      for (const { text } of journal.listTaskLines(taskId)) yield text;
    },
    onConnectionError: () => clients.clear(),
  });
  return {
    url,
    source: {
      ...source,
      readTask: async (taskId) => {
        try {
          return await source.readTask(taskId);
        } catch (error) {
          const isUnknown = A2AError.from(error).reason === "TASK_NOT_FOUND";
          const task = isUnknown ? foldRecordedTask(taskId, journal) : undefined;
          if (task && isTerminal(task.status.state)) return task;
          throw error;
        }
      },
    },
    listing: createRemoteTaskListing(
      id,
      () => openClient(false),
      readModel,
      ({ agent }) => agent !== undefined && agent === name,
      () => [...ownNames.values()].includes(name ?? ""),
    ),
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
  /** Position in the list of the observed tasks that the agent has forgotten. */
  readonly observed?: JsonValue;
}

/**
 * Lists the tasks of a remote agent with ListTasks (A2A §3.1.4), and then the ended tasks that the console has observed
 * and the agent no longer lists, for example because its store was in memory. Agents without the operation, such as
 * agents of A2A 0.3, have the list of the tasks that the console has observed. An agent that refuses the operation, for
 * example because it requires a user, has this list together with the problem.
 */
function createRemoteTaskListing(
  agentId: string,
  openClient: () => Promise<A2AClient>,
  readModel: () => TrafficModel,
  isTaskOfAgent: (task: TrafficTask) => boolean,
  isNameAmbiguous: () => boolean,
): TaskListing {
  /** Ids of the tasks that the agent has listed since its connection last failed. */
  let listedIds: Set<string> | undefined;
  const observed = createObservedTaskListing(agentId, readModel, (task) => {
    if (!isTaskOfAgent(task)) return false;
    // The observed state of a task that has not ended can be out of date.
    const isForgotten = isTerminal(task.state as TaskState) && listedIds?.has(task.id) === false;
    return listedIds === undefined || (isForgotten && !isNameAmbiguous());
  });
  return {
    ...observed,
    list: async (filter, position, limit) => {
      if (Array.isArray(position)) return await observed.list(filter, position, limit);
      try {
        const client = await openClient();
        if (client.agentInterface.protocolVersion.startsWith("0."))
          return await observed.list(filter, position, limit);
        const start = decodePosition(position);
        const page = await listRemoteTasks(agentId, client, filter, start, limit);
        listedIds ??= new Set();
        const listed = page.tasks.map(({ summary, ...task }): PositionedTask => {
          listedIds?.add(summary.id);
          const preview = findQuestion(readModel().findTask(summary.id));
          const { isReply: _, ...asked } = summary;
          return { ...task, summary: preview === undefined ? summary : { ...asked, preview } };
        });
        if (page.hasMore) return { tasks: listed, hasMore: true };
        const forgotten = await observed.list(filter, start.observed, limit);
        const waiting = [...forgotten.tasks];
        // The tasks of the agent keep their order, because its list continues after the position of the last task.
        const merged = listed.flatMap((task) => {
          const isOlder = ({ summary }: PositionedTask): boolean =>
            summary.updatedAt <= task.summary.updatedAt;
          const older = waiting.findIndex(isOlder);
          return [...waiting.splice(0, older < 0 ? waiting.length : older), task];
        });
        let last = start;
        const tasks = [...merged, ...waiting].map((task): PositionedTask => {
          last = Array.isArray(task.position)
            ? { ...last, observed: task.position }
            : { ...last, ...decodePosition(task.position) };
          return { ...task, position: { ...last } };
        });
        return { tasks, hasMore: forgotten.hasMore };
      } catch (error) {
        listedIds = undefined;
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
  // ListTasks returns only the last message.
  const question = formatPreview(history.findLast(({ role }) => role === "ROLE_USER"));
  const reply = question === "" ? formatPreview(status.message, history.at(-1)) : "";
  return {
    position: { ...position },
    summary: {
      agent,
      id,
      contextId,
      state: status.state,
      updatedAt: status.timestamp ?? "",
      preview: question || reply,
      ...(reply !== "" && { isReply: true }),
    },
  };
}

function decodePosition(position: JsonValue | undefined): RemotePosition {
  if (position === undefined) return { token: "", skip: 0 };
  if (isObject(position)) {
    const { token, skip, observed } = position;
    if (typeof token === "string" && typeof skip === "number")
      return { token, skip, ...(observed !== undefined && { observed }) };
  }
  throw A2AError.invalidParams([{ field: "pageToken", description: "was not issued by this console" }]);
}
