import type { Agent, Engine } from "../engine/index.ts";
import { AgentCardPublisher, type AgentCardOptions } from "./card/agent-card-publisher.ts";
import type { TenantAssertion } from "./tenants.ts";

/** An agent of this server, with its engine and its agent card. */
export interface ServedAgent {
  readonly id: string;
  readonly engine: Engine;
  readonly cardPublisher: AgentCardPublisher;
  /** Whether to reject or accept message parts of media types that the agent does not declare. */
  readonly inputModePolicy: "enforce" | "ignore";
  /** Rejects callers of tenants that are not served. The value is `undefined` when every tenant is served. */
  readonly assertTenantServed: TenantAssertion | undefined;
}

/** Options for serving an agent. */
export interface ServedAgentOptions extends Omit<AgentCardOptions, "path"> {
  readonly inputModePolicy?: "enforce" | "ignore" | undefined;
  readonly assertTenantServed?: TenantAssertion | undefined;
}

/** Returns the URL path of an agent. */
export function getAgentPath(agentId: string): string {
  return `/a2a/${encodeURIComponent(agentId)}`;
}

/** Creates the served form of an agent. */
export function createServedAgent(
  id: string,
  agent: Agent,
  engine: Engine,
  { inputModePolicy = "enforce", assertTenantServed, ...cardOptions }: ServedAgentOptions,
): ServedAgent {
  return {
    id,
    engine,
    cardPublisher: new AgentCardPublisher(agent, { ...cardOptions, path: getAgentPath(id) }),
    inputModePolicy,
    assertTenantServed,
  };
}

/**
 * Returns the agents with their ids. A single agent without an id has the id `agent`. Throws for values that
 * are not agents, and for ids that are not valid in a URL path.
 */
export function toAgentEntries(agents: Agent | Readonly<Record<string, Agent>>): [string, Agent][] {
  const entries: [string, Agent][] = isAgent(agents) ? [["agent", agents]] : Object.entries(agents ?? {});
  if (entries.length === 0) throw new Error("createServer was called without an agent; pass at least one.");
  for (const [id, agent] of entries) {
    if (!isAgent(agent)) {
      throw new Error(
        `The value of ${JSON.stringify(id)} in createServer is not an agent; create one with agent(…), or with adkAgent(…) for an ADK agent.`,
      );
    }
    if (!/^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$/.test(id)) {
      throw new Error(
        `The agent id ${JSON.stringify(id)} is not valid in a URL; use letters, digits, ".", "_", "~", and "-".`,
      );
    }
  }
  return entries;
}

/** Returns true for an agent. Untyped code may pass an ADK agent or a generator function instead. */
function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false;
  return "execute" in value && typeof value.execute === "function" && "describe" in value;
}
