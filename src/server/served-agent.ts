import type { Agent, Engine } from "../engine/index.ts";
import { CardStand } from "./card.ts";

/** An agent on this server: its engine, and its card. */
export interface ServedAgent {
  readonly id: string;
  readonly engine: Engine;
  readonly card: CardStand;
}

/** The path under which an agent is served. */
export function pathOf(agentId: string): string {
  return `/a2a/${encodeURIComponent(agentId)}`;
}

export function serve(id: string, agent: Agent, engine: Engine): ServedAgent {
  return { id, engine, card: new CardStand(agent, pathOf(id)) };
}

/** The agents by their ids. A single agent without an id is called `agent`. */
export function byId(agents: Agent | Readonly<Record<string, Agent>>): [string, Agent][] {
  const entries: [string, Agent][] = isAgent(agents) ? [["agent", agents]] : Object.entries(agents);
  if (entries.length === 0) throw new Error("There is no agent to serve; give createServer at least one.");
  for (const [id] of entries) {
    if (!/^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$/.test(id)) {
      throw new Error(
        `Agent id ${JSON.stringify(id)} can not stand in a URL; use letters, digits, ".", "_" and "-".`,
      );
    }
  }
  return entries;
}

function isAgent(agents: Agent | Readonly<Record<string, Agent>>): agents is Agent {
  return typeof agents.execute === "function" && typeof agents.describe === "function";
}
