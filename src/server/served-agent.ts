import { type Agent, assertValidTurnLimits, type Engine, type AgentDescription } from "../engine/index.ts";
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
  whenUnread: ["continue", "cancel"],
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

/** Returns false if untyped code passes an ADK agent or a generator function instead of an agent. */
function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false;
  return "execute" in value && typeof value.execute === "function" && "describe" in value;
}

/** Creates a served agent, and opens its engine if the server has opened its store. */
type ServedAgentFactory = (id: string, agent: Agent) => ServedAgent;

/**
 * The agents of a server. The server can replace them while their turns run. The engine of a removed agent finishes its
 * turns, and serves the agent again if an agent with the same id is added.
 */
export class ServedAgentRegistry {
  readonly #createServedAgent: ServedAgentFactory;
  readonly #served = new Map<string, ServedAgent>();
  readonly #removed = new Map<string, ServedAgent>();
  #lastReplacement: Promise<void> = Promise.resolve();

  constructor(
    entries: readonly (readonly [id: string, agent: Agent])[],
    createServedAgent: ServedAgentFactory,
  ) {
    this.#createServedAgent = createServedAgent;
    for (const [id, agent] of entries) this.#served.set(id, createServedAgent(id, agent));
  }

  /** The agents that accept requests, in the order in which the program passed them. The map changes in place. */
  get served(): ReadonlyMap<string, ServedAgent> {
    return this.#served;
  }

  /** The first agent, which the server also serves at the root path. */
  get defaultAgent(): ServedAgent | undefined {
    return this.#served.values().next().value;
  }

  /** Returns the engines of all agents, including the removed agents. */
  listEngines(): Engine[] {
    return [...this.#served.values(), ...this.#removed.values()].map(({ engine }) => engine);
  }

  /** Returns the engine of an agent, which may be a removed agent. */
  findEngine(id: string): Engine | undefined {
    return this.#findAgent(id)?.engine;
  }

  /**
   * Replaces all agents at once. `openEngine` opens the engine of an agent that is new. Rejects without a change if a
   * description is not a valid agent card, or if an engine cannot be opened.
   */
  replaceAgents(
    entries: readonly (readonly [id: string, agent: Agent])[],
    openEngine: (engine: Engine) => Promise<void>,
  ): Promise<void> {
    const replacement = this.#lastReplacement.then(() => this.#replaceAgents(entries, openEngine));
    this.#lastReplacement = replacement.catch(() => {});
    return replacement;
  }

  async #replaceAgents(
    entries: readonly (readonly [id: string, agent: Agent])[],
    openEngine: (engine: Engine) => Promise<void>,
  ): Promise<void> {
    const replacements = await Promise.all(
      entries.map((entry) => this.#prepareReplacement(entry, openEngine)),
    );
    for (const [id, served] of this.#served) this.#removed.set(id, served);
    this.#served.clear();
    for (const { served, agent, description } of replacements) {
      served.engine.replaceAgent(agent);
      served.cardPublisher.replaceAgent(agent, description);
      this.#served.set(served.id, served);
      this.#removed.delete(served.id);
    }
  }

  async #prepareReplacement(
    [id, agent]: readonly [id: string, agent: Agent],
    openEngine: (engine: Engine) => Promise<void>,
  ): Promise<{ served: ServedAgent; agent: Agent; description: AgentDescription }> {
    const known = this.#findAgent(id);
    const served = known ?? this.#createServedAgent(id, agent);
    const description = await served.cardPublisher.describeAgent(agent);
    if (!known) {
      // The server closes the engine, even if the agent is never served.
      this.#removed.set(id, served);
      await openEngine(served.engine);
    }
    return { served, agent, description };
  }

  #findAgent(id: string): ServedAgent | undefined {
    return this.#served.get(id) ?? this.#removed.get(id);
  }
}
