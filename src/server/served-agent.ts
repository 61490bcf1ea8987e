import { type Agent, assertValidTurnLimits, type Engine } from "../engine/index.ts";
import { deriveAgentId, isAgentId } from "../protocol/index.ts";
import { AgentCardPublisher, type AgentCardOptions } from "./card/agent-card-publisher.ts";

/** An agent that a server serves, with its engine and agent card. */
export interface ServedAgent {
  readonly id: string;
  readonly engine: Engine;
  readonly cardPublisher: AgentCardPublisher;
  /** Policy for message parts whose media type the agent does not declare. */
  readonly inputModePolicy: "enforce" | "ignore";
}

export interface ServedAgentOptions extends Omit<AgentCardOptions, "path"> {
  readonly inputModePolicy?: "enforce" | "ignore" | undefined;
}

export function getAgentPath(agentId: string): string {
  return `/a2a/${encodeURIComponent(agentId)}`;
}

export function createServedAgent(
  id: string,
  agent: Agent,
  engine: Engine,
  { inputModePolicy = "enforce", ...cardOptions }: ServedAgentOptions,
): ServedAgent {
  return {
    id,
    engine,
    cardPublisher: new AgentCardPublisher(agent, { ...cardOptions, path: getAgentPath(id) }),
    inputModePolicy,
  };
}

/**
 * Converts the argument of `createServer` to pairs of an agent id and an agent. The id of a single agent is the agent's
 * own id, or is derived from the agent's name. Throws an error if a value is not an agent or an agent id is not valid
 * in a URL path. A server that only serves mounted handlers needs no agent.
 */
export function toAgentEntries(
  agents: Agent | Readonly<Record<string, Agent>>,
  allowsNone = false,
): [string, Agent][] {
  if (typeof agents === "function")
    throw new Error(
      "The argument of createServer is a function; wrap the function in agent({ name, description }, …).",
    );
  if (typeof agents === "object" && "runAsync" in agents)
    throw new Error(
      "The argument of createServer is an ADK agent; wrap the agent in adkAgent(…), or use toA2a(…).",
    );
  const entries: [string, Agent][] = isAgent(agents)
    ? [[findAgentId(agents), agents]]
    : Object.entries(agents ?? {});
  if (entries.length === 0 && !allowsNone)
    throw new Error("createServer was called without an agent; pass at least one.");
  for (const [id, agent] of entries) {
    if (!isAgent(agent)) {
      throw new Error(
        `The value of ${JSON.stringify(id)} in createServer is not an agent; create one with agent(…), or with adkAgent(…) for an ADK agent.`,
      );
    }
    for (const [name, allowed] of Object.entries(ALLOWED_AGENT_VALUES)) {
      const value = agent[name as keyof typeof ALLOWED_AGENT_VALUES];
      if (value !== undefined && !(allowed as readonly string[]).includes(value))
        throw new Error(
          `${JSON.stringify(name)} of the agent ${JSON.stringify(id)} is ${JSON.stringify(value)}; use one of ${formatValues(allowed)}.`,
        );
    }
    assertValidTurnLimits(agent, `the agent ${JSON.stringify(id)}`);
    if (!isAgentId(id)) {
      throw new Error(
        `The agent id ${JSON.stringify(id)} is not valid in a URL; use letters, digits, ".", "_", "~", and "-".`,
      );
    }
  }
  return entries;
}

/** The values of an agent's members, because types do not protect untyped code. */
const ALLOWED_AGENT_VALUES = {
  afterRestart: ["fail", "restart", "resume"],
  concurrentTurns: ["queue", "refuse", "parallel"],
  respondsWith: ["task", "either"],
  whileWorking: ["refuse", "queue"],
} satisfies { readonly [Name in keyof Agent]?: readonly Agent[Name][] };

function formatValues(values: readonly string[]): string {
  return values.map((value) => JSON.stringify(value)).join(", ");
}

/** The id of an agent without an id whose description is not available synchronously. */
const DEFAULT_AGENT_ID = "agent";

function findAgentId(agent: Agent): string {
  if (agent.id !== undefined) return agent.id;
  const description = agent.describe();
  if (!("then" in description)) return deriveAgentId(description.name);
  // The card publisher reports the failure.
  description.catch(() => {});
  return DEFAULT_AGENT_ID;
}

/**
 * Returns the current agent ids by the ids that an older version of Colloquy used. Older versions had the same
 * ids for objects of agents, `agent` for a single agent, and names of files in `colloquy serve`.
 */
export function findCurrentIdsByEarlierId(
  agents: Agent | Readonly<Record<string, Agent>>,
  entries: readonly (readonly [id: string, agent: Agent])[],
  previousAgentIds: Readonly<Record<string, string>> = {},
): Map<string, string> {
  const ids = new Map(Object.entries(previousAgentIds));
  for (const [id] of entries) {
    if (isAgent(agents)) ids.set(DEFAULT_AGENT_ID, id);
    else if (!Object.values(previousAgentIds).includes(id)) ids.set(id, id);
  }
  return ids;
}

/** Returns false if untyped code passes an ADK agent or a generator function instead of an agent. */
function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false;
  return "execute" in value && typeof value.execute === "function" && "describe" in value;
}
