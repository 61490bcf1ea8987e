import type { Message } from "../protocol/index.ts";
import type { Agent } from "./agent.ts";
import { ContextTurnGate } from "./context-turn-gate.ts";

/**
 * The agent of an engine, which can be replaced while turns run. A turn keeps the agent that it started with, and the
 * next turn of the same task uses the current agent.
 */
export class ReplaceableAgent {
  readonly #maxWaitingTurns: number;
  #current: Agent;
  #contextTurns: ContextTurnGate | undefined;

  /** `maxWaitingTurns` is the maximum number of turns that wait in a context, if the agent orders its turns. */
  constructor(agent: Agent, maxWaitingTurns: number) {
    this.#maxWaitingTurns = maxWaitingTurns;
    this.#current = agent;
    this.#contextTurns = this.#createContextTurnGate();
  }

  /** The agent of the next turn. */
  get current(): Agent {
    return this.#current;
  }

  /** Orders the turns of each context, or is `undefined` if the turns of different tasks run concurrently. */
  get contextTurns(): ContextTurnGate | undefined {
    return this.#contextTurns;
  }

  /** Replaces the agent. If the new agent orders its turns differently, earlier turns do not delay new turns. */
  replace(agent: Agent): void {
    const { concurrentTurns: earlierOrder = "parallel" } = this.#current;
    const { concurrentTurns: order = "parallel" } = agent;
    this.#current = agent;
    if (order !== earlierOrder) this.#contextTurns = this.#createContextTurnGate();
  }

  #createContextTurnGate(): ContextTurnGate | undefined {
    const { concurrentTurns = "parallel" } = this.#current;
    return concurrentTurns === "parallel"
      ? undefined
      : new ContextTurnGate(concurrentTurns, this.#maxWaitingTurns);
  }
}

/** Returns true if a later process may continue the turns of an agent, so that the store persists them. */
export function hasPersistedTurns({ afterRestart = "fail" }: Agent): boolean {
  return afterRestart !== "fail";
}

/**
 * Returns the form of a message for the history of its task. A turn that another process can repeat requires the complete
 * message.
 */
export function toStoredMessage(message: Message, agent: Agent): Message {
  return agent.redactMessage && !hasPersistedTurns(agent) ? agent.redactMessage(message) : message;
}
