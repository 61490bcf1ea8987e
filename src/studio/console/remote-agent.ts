import {
  connect,
  findCard,
  type A2AClient,
  type CardVerifier,
  type ConnectOptions,
} from "../../client/index.ts";
import { A2AError, estimateJsonSize } from "../../protocol/index.ts";
import { getRecordedAgentName } from "../../observe/trace/index.ts";
import { createGuardedFetch } from "../../server/index.ts";
import type { AgentSource, TaskListing } from "./agent-source.ts";
import { withConsoleUserAgent } from "./console-reads.ts";
import type { CardBudget } from "./card-budget.ts";
import { createConnectedAgentSource, isReadAction } from "./connected-agent-source.ts";
import { createObservedTaskListing } from "./observed-tasks.ts";
import { createRemoteTaskListing } from "./remote-task-listing.ts";
import { withCuttableStreams } from "./stream-operation.ts";
import type { Workspace } from "./workspace.ts";

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
  const { record, journal, credentials } = workspace;
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
    journal,
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
