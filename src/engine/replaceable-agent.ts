import { Deferred } from "../base/data-structures/index.ts";
import { type Message, A2AError } from "../protocol/index.ts";
import type { Agent } from "./agent.ts";
import { getCallerKey, type TaskScope } from "./caller.ts";
import { createLimitError } from "./engine-limits.ts";

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

/** A turn, as far as the order of the turns of its context needs it. */
interface TurnOfContext {
  readonly message: Message;
  readonly signal: AbortSignal;
  onEnd(callback: () => void): void;
}

/**
 * Orders the turns of each context for agents with `concurrentTurns: "queue"` or `"refuse"`. In each context,
 * at most one agent runs at a time. The other turns of the context wait in message order.
 */
class ContextTurnGate {
  readonly #mode: "queue" | "refuse";
  readonly #maxWaitingTurns: number;
  /**
   * The queue of turns for each context with a running turn. The first turn is running, and the other turns
   * wait.
   */
  readonly #turns = new Map<string, { turn: TurnOfContext; start: () => void }[]>();

  constructor(mode: "queue" | "refuse", maxWaitingTurns: number) {
    this.#mode = mode;
    this.#maxWaitingTurns = maxWaitingTurns;
  }

  /** Number of turns that wait for another turn of their context. */
  get waitingTurnCount(): number {
    let count = 0;
    for (const turns of this.#turns.values()) count += turns.length - 1;
    return count;
  }

  /** Throws an error if the context cannot accept a new turn of the task. */
  assertAcceptsTurn(scope: TaskScope, contextId: string, taskId: string): void {
    const turns = this.#turns.get(toContextKey(scope, contextId)) ?? [];
    const others = turns.filter(({ turn }) => turn.message.taskId !== taskId);
    if (this.#mode === "refuse") assertNotRefused(others.at(0)?.turn, contextId);
    else if (others.length > this.#maxWaitingTurns)
      throw createLimitError(`waiting messages for context ${contextId}`, this.#maxWaitingTurns);
  }

  /**
   * Adds a turn to the queue of its context. Returns `undefined` if the turn may start immediately.
   * Otherwise, the returned promise resolves when the turn may start, or when the turn is aborted or ended.
   */
  enterTurn(scope: TaskScope, turn: TurnOfContext): Promise<void> | undefined {
    const key = toContextKey(scope, turn.message.contextId ?? "");
    const turns = this.#turns.get(key) ?? [];
    this.#turns.set(key, turns);
    const isFree = turns.length === 0;
    const started = new Deferred();
    turns.push({ turn, start: () => started.resolve() });
    turn.onEnd(() => {
      started.resolve();
      this.#leave(key, turn);
    });
    if (isFree) return undefined;
    turn.signal.addEventListener("abort", () => started.resolve(), { once: true });
    return started.promise;
  }

  #leave(key: string, turn: TurnOfContext): void {
    const turns = this.#turns.get(key) ?? [];
    const rest = turns.filter((entry) => entry.turn !== turn);
    if (rest.length === 0) this.#turns.delete(key);
    else this.#turns.set(key, rest);
    rest[0]?.start();
  }
}

function toContextKey(scope: TaskScope, contextId: string): string {
  return `${contextId.length}:${contextId}${getCallerKey(scope)}`;
}

function assertNotRefused(running: TurnOfContext | undefined, contextId: string): void {
  if (!running) return;
  const { taskId = "" } = running.message;
  const text = `Task ${taskId} is running in context ${contextId}, and the agent runs one task at a time in a context; wait for the task, or use another context.`;
  throw new A2AError("UNSUPPORTED_OPERATION", text, { metadata: { taskId } });
}
