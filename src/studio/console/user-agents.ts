import type { CardVerifier } from "../../client/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { AgentSource, TaskListing } from "./agent-source.ts";
import type { ConsoleAgents } from "./console-routes.ts";
import { createOwnAgentSource, createOwnTaskListing, type OwnServer } from "./own-server.ts";
import type { RecordedAgents } from "./recorded-agents.ts";
import type { RemoteAgentRegistry } from "./remote-agent-registry.ts";
import type { Workspace } from "./workspace.ts";

/** The sources of agents for one request. */
interface UserAgentSources {
  readonly workspace: Workspace;
  readonly server: OwnServer;
  readonly remotes: RemoteAgentRegistry;
  readonly records: RecordedAgents;
  /** Names of the agents of the own server by id, which the console learns from their cards. */
  readonly ownNames: Map<string, string>;
  readonly verifyWithTrustedKeys: CardVerifier | undefined;
}

/** Combines the agents of the own server, the remote agents, and the agents of records. */
export function createUserAgents(sources: UserAgentSources): ConsoleAgents {
  const { workspace, server, remotes, records, ownNames, verifyWithTrustedKeys } = sources;
  workspace.ownServerUrls = { inProcess: server.access.url, reached: server.publicUrl };
  const createOwn = (id: string): AgentSource =>
    createOwnAgentSource(id, server, workspace, { names: ownNames, verifyWithTrustedKeys });
  const listOwnIds = async (): Promise<string[]> => {
    const { url, fetch } = server.access;
    const { agents } = (await (await fetch(new Request(`${url}/a2a`))).json()) as {
      readonly agents: readonly { readonly id: string; readonly name: string }[];
    };
    for (const { id, name } of agents) ownNames.set(id, name);
    return agents.map(({ id }) => id);
  };
  const list = async (): Promise<AgentSource[]> => [
    ...(await listOwnIds()).map(createOwn),
    ...[...remotes.agents.values()].map(({ source }) => source),
    ...records.sources,
  ];
  return {
    list,
    get: async (id) => {
      const source = (await list()).find((one) => one.id === id);
      if (source) return source;
      throw new A2AError(
        "NOT_FOUND",
        `The console has no agent ${id.slice(0, 100)}; GET /console/api/agents lists the agents.`,
      );
    },
    listTaskListings: async (): Promise<TaskListing[]> => {
      const ids = await listOwnIds();
      return [
        ...(ids.length === 0 ? [] : [createOwnTaskListing(server, ids)]),
        ...[...remotes.agents.values()].map(({ listing }) => listing),
        ...records.listings,
      ];
    },
    add: async (url) => remotes.add(url, new Set(await listOwnIds())).source,
    remove: (id) => remotes.remove(id),
    reconnect: (id) => remotes.agents.get(id)?.reconnect(),
  };
}
