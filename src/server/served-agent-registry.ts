import type { Agent, AgentDescription, Engine } from "../engine/index.ts";
import type { ServedAgent } from "./served-agent.ts";

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
