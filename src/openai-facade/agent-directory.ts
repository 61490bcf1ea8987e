import { connect, type A2AClient } from "../client/index.ts";
import type { CallerContext } from "../server/index.ts";

/** Who asks, and the agents that they may speak with. */
export interface CallerAgents {
  /** A name for who asks, by which conversations are told apart. */
  readonly caller: string;
  /** The agents, by the names that they have as models. */
  readonly agents: Readonly<Record<string, A2AClient>>;
}

/** The same, for agents that are opened when they are asked for. */
export interface AgentDirectory {
  readonly caller: string;
  listNames(): Promise<readonly string[]>;
  openClient(name: string): Promise<A2AClient | undefined>;
}

/** Agents elsewhere, or wherever somebody has connected to. */
export function createFixedDirectory({ caller, agents }: CallerAgents): AgentDirectory {
  return {
    caller,
    listNames: () => Promise.resolve(Object.keys(agents)),
    openClient: (name) => Promise.resolve(Object.hasOwn(agents, name) ? agents[name] : undefined),
  };
}

/** The agents of the server that the façade stands beside, as they are for who has been let in. */
export function createServerDirectory({ caller, url, fetch }: CallerContext): AgentDirectory {
  const listNames = async (): Promise<string[]> => {
    const { agents } = (await (await fetch(new Request(`${url}/a2a`))).json()) as {
      agents: { id: string }[];
    };
    return agents.map(({ id }) => id);
  };
  return {
    caller: JSON.stringify([caller.tenant, caller.principal]),
    listNames,
    async openClient(name) {
      if (!(await listNames()).includes(name)) return undefined;
      return await connect(`${url}/a2a/${encodeURIComponent(name)}`, {
        fetch: (input, init) => fetch(new Request(input, init)),
        // Nothing breaks between us; a stream ends early when the server closes.
        reconnect: { maxRetries: 0 },
      });
    },
  };
}
