import type { Agent, Engine } from "../engine/index.ts";
import { AgentCardPublisher, type AgentCardOptions } from "./card/agent-card-publisher.ts";
import type { TenantAssertion } from "./tenants.ts";

/** An agent on this server: its engine, and its card. */
export interface ServedAgent {
  readonly id: string;
  readonly engine: Engine;
  readonly cardPublisher: AgentCardPublisher;
  /** What becomes of message parts of media types that the agent does not declare. */
  readonly inputModePolicy: "enforce" | "ignore";
  /** Undefined: any tenant is served. */
  readonly assertTenantServed: TenantAssertion | undefined;
}

/** How an agent is served. */
export interface ServedAgentOptions extends Omit<AgentCardOptions, "path"> {
  readonly inputModePolicy?: "enforce" | "ignore" | undefined;
  readonly assertTenantServed?: TenantAssertion | undefined;
}

/** The path under which an agent is served. */
export function getAgentPath(agentId: string): string {
  return `/a2a/${encodeURIComponent(agentId)}`;
}

export function createServedAgent(
  id: string,
  agent: Agent,
  engine: Engine,
  { inputModePolicy: inputModes = "enforce", assertTenantServed: checkTenant, ...card }: ServedAgentOptions,
): ServedAgent {
  return {
    id,
    engine,
    cardPublisher: new AgentCardPublisher(agent, { ...card, path: getAgentPath(id) }),
    inputModePolicy: inputModes,
    assertTenantServed: checkTenant,
  };
}

/** The agents by their ids. A single agent without an id is called `agent`. What is no agent is refused at once. */
export function toAgentEntries(agents: Agent | Readonly<Record<string, Agent>>): [string, Agent][] {
  const entries: [string, Agent][] = isAgent(agents) ? [["agent", agents]] : Object.entries(agents ?? {});
  if (entries.length === 0) throw new Error("There is no agent to serve; give createServer at least one.");
  for (const [id, agent] of entries) {
    if (!isAgent(agent)) {
      throw new Error(
        `What createServer was given as ${JSON.stringify(id)} is no agent; make one with agent(…) of a generator, with adkAgent(…) of ADK's.`,
      );
    }
    if (!/^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$/.test(id)) {
      throw new Error(
        `Agent id ${JSON.stringify(id)} can not stand in a URL; use letters, digits, ".", "_" and "-".`,
      );
    }
  }
  return entries;
}

/** For callers without types too, who may have an agent of ADK, or a generator. */
function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false;
  return "execute" in value && typeof value.execute === "function" && "describe" in value;
}
