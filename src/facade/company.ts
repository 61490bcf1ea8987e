import { connect, type Remote } from "../client/index.ts";
import type { Inside } from "../server/index.ts";

/** Who asks, and the agents that they may speak with. */
export interface Company {
  /** A name for who asks, by which conversations are told apart. */
  readonly caller: string;
  /** The agents, by the names that they have as models. */
  readonly agents: Readonly<Record<string, Remote>>;
}

/** The same, for agents that are opened when they are asked for. */
export interface Agents {
  readonly caller: string;
  names(): Promise<readonly string[]>;
  open(name: string): Promise<Remote | undefined>;
}

/** Agents elsewhere, or wherever somebody has connected to. */
export function given({ caller, agents }: Company): Agents {
  return {
    caller,
    names: () => Promise.resolve(Object.keys(agents)),
    open: (name) => Promise.resolve(Object.hasOwn(agents, name) ? agents[name] : undefined),
  };
}

/** The agents of the server that the façade stands beside, as they are for who has been let in. */
export function within({ caller, url, fetch }: Inside): Agents {
  const names = async (): Promise<string[]> => {
    const { agents } = (await (await fetch(new Request(`${url}/a2a`))).json()) as {
      agents: { id: string }[];
    };
    return agents.map(({ id }) => id);
  };
  return {
    caller: JSON.stringify([caller.tenant, caller.principal]),
    names,
    async open(name) {
      if (!(await names()).includes(name)) return undefined;
      return await connect(`${url}/a2a/${encodeURIComponent(name)}`, {
        fetch: (input, init) => fetch(new Request(input, init)),
        // Nothing breaks between us; a stream ends early when the server closes.
        reconnect: { tries: 0 },
      });
    },
  };
}
