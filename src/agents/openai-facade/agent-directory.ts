import { connect, type A2AClient } from "../../client/index.ts";
import type { CallerAgentAccess } from "../../server/index.ts";

/** An authenticated caller, and the agents that the caller may use. */
export interface CallerWithAgents {
  /** The name of the caller. Each caller has separate conversations. */
  readonly caller: string;
  /** The agents that the caller may use, by model name. */
  readonly agents: Readonly<Record<string, A2AClient>>;
}

/** The agents that one caller may use. The façade connects to the agents on demand. */
export interface AgentDirectory {
  readonly caller: string;
  listNames(): Promise<readonly string[]>;
  openClient(name: string): Promise<A2AClient | undefined>;
}

/** Creates a directory of agents that are already connected. */
export function createStaticAgentDirectory({ caller, agents }: CallerWithAgents): AgentDirectory {
  return {
    caller,
    listNames: () => Promise.resolve(Object.keys(agents)),
    openClient: (name) => Promise.resolve(Object.hasOwn(agents, name) ? agents[name] : undefined),
  };
}

/** Creates a directory of the agents that the authenticated caller may use on the façade's server. */
export function createServerAgentDirectory({ caller, url, fetch }: CallerAgentAccess): AgentDirectory {
  const listNames = async (): Promise<string[]> => {
    const { agents } = (await (await fetch(new Request(`${url}/a2a`))).json()) as {
      agents: { id: string }[];
    };
    return agents.map(({ id }) => id);
  };
  return {
    // A limited caller must not find the conversations of other contexts.
    caller: JSON.stringify([
      caller.tenant,
      caller.principal,
      ...(caller.contextScope ? [caller.contextScope] : []),
    ]),
    listNames,
    async openClient(name) {
      if (!(await listNames()).includes(name)) return undefined;
      return await connect(`${url}/a2a/${encodeURIComponent(name)}`, {
        fetch: (input, init) => fetch(new Request(input, init)),
        // These requests stay in the process, so a stream can only end early because the server closes.
        reconnect: { maxRetries: 0 },
      });
    },
  };
}
