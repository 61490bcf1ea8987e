import { CallKeyGenerator } from "../../../base/data-structures/index.ts";
import type { AgentEvent, Clock, Run, SessionStore } from "../../../engine/index.ts";
import type { JsonObject, JsonValue, Task } from "../../../protocol/index.ts";
import {
  ServerClosingError,
  type TaskUpdateEvent,
  toCancellationAbortReason,
  TurnContinuesError,
} from "./role-runtime.ts";

/**
 * Key in the metadata of a task that waits for an answer. The value contains the finished steps, because the store keeps
 * steps only until the end of a turn. The last event of the task replaces the value with `null`.
 */
export const WAITING_STATE_KEY = "colloquy:waiting";

/** State of an agent between two turns. */
interface WaitingState {
  readonly steps: JsonObject;
  /** Data that the agent keeps about its question. */
  readonly question: unknown;
}

/**
 * One attempt at a turn of an agent that waits for answers with `await`. After a question or a restart, the agent runs
 * from its beginning, and its finished steps return their stored results. The agent emits events at any time.
 */
export class DurableTurn {
  readonly run: Run;
  readonly #clock: Clock;
  readonly #isStoreDurable: boolean;
  readonly #keys = new CallKeyGenerator();
  readonly #finished: Map<string, JsonValue>;
  readonly #emittedMessageIds: ReadonlySet<string>;
  readonly #events: TaskUpdateEvent[] = [];
  #notifyReader: (() => void) | undefined;
  #runningSteps = 0;
  #notifyStepEnd: (() => void) | undefined;
  #isOver = false;
  /** The question that the task asked in its last turn, or `undefined` in its first turn. */
  readonly question: unknown;

  constructor(run: Run, clock: Clock, store: SessionStore | undefined) {
    const { steps, question } = findWaitingState(run.task) ?? {};
    this.run = run;
    this.#clock = clock;
    this.#isStoreDurable = store?.isDurable === true;
    this.#finished = new Map(Object.entries(steps ?? {}));
    this.question = question;
    const sent = (run.task.history ?? []).filter(({ role }) => role === "ROLE_AGENT");
    this.#emittedMessageIds = new Set(sent.map(({ messageId }) => messageId));
  }

  /** Whether the attempt is over, so that further events are dropped. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the key of the next step of a kind. Steps with equal content have different keys. */
  createStepKey(kind: string, content: unknown): string {
    return this.#keys.generate(kind, content);
  }

  /** Resolves with the result of the step `key`, which `execute` returns if no turn and no attempt has finished the step. */
  async once<T>(key: string, execute: () => T | PromiseLike<T>): Promise<T> {
    if (this.#finished.has(key)) return this.#finished.get(key) as T;
    this.#runningSteps++;
    try {
      // Without a durable store, no later attempt needs the step, and the commit of a step costs CPU time.
      const result = await (this.#isStoreDurable ? this.run.once(key, execute) : execute());
      this.#finished.set(key, result as JsonValue);
      return result;
    } finally {
      this.#runningSteps--;
      this.#notifyStepEnd?.();
    }
  }

  /** Returns how many earlier attempts have begun the step `key`, and marks that this attempt begins the step. */
  async countInterruptedTries(key: string): Promise<number> {
    for (let tries = 0; ; tries++) {
      const attempt = await this.once(`${key} begun ${tries}`, () => this.run.attempt);
      if (attempt === this.run.attempt) return tries;
    }
  }

  /** Emits an event, except a message that an earlier attempt or turn has emitted. Events are dropped after the end. */
  emit(event: TaskUpdateEvent): void {
    const messageId = "status" in event ? event.status.message?.messageId : undefined;
    if (this.#isOver || (messageId !== undefined && this.#emittedMessageIds.has(messageId))) return;
    this.#events.push(event);
    this.#notifyReader?.();
  }

  /**
   * Ends the turn with a question as soon as at most `waitingSteps` steps are running. Never resolves: the next turn
   * repeats the agent's calls, with the results of all finished steps.
   */
  async ask(event: TaskUpdateEvent, question: unknown, waitingSteps: number): Promise<never> {
    while (this.#runningSteps > waitingSteps) {
      await new Promise<void>((resolve) => (this.#notifyStepEnd = resolve));
      // A finished step may be followed by the next one.
      await new Promise<void>((resolve) => this.#clock.scheduleTurn(resolve));
    }
    if (this.#isOver) return await new Promise<never>(() => {});
    const state: WaitingState = { steps: Object.fromEntries(this.#finished), question };
    this.#events.push({ ...event, metadata: { [WAITING_STATE_KEY]: state as unknown as JsonObject } });
    this.#end();
    return await new Promise<never>(() => {});
  }

  /**
   * Yields the events of `work` until it ends or asks a question. `stop` is called with an abort reason if the turn is
   * stopped, and when the turn is over.
   */
  async *stream(
    work: () => Promise<void>,
    stop: (reason: unknown) => void,
  ): AsyncGenerator<AgentEvent, void, undefined> {
    const { signal } = this.run;
    const onAbort = (): void => stop(this.#createAbortReason());
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const outcome: { error?: unknown } = {};
    void work().then(
      () => this.#end(),
      (error: unknown) => {
        outcome.error = error;
        this.#end();
      },
    );
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event) yield event;
        else if (this.#isOver) break;
        else await new Promise<void>((resolve) => (this.#notifyReader = resolve));
      }
      if ("error" in outcome) throw outcome.error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#isOver = true;
      stop(new TurnContinuesError());
    }
  }

  /** Removes the state of the agent from the metadata of a task that ends. */
  addEndMetadata(event: TaskUpdateEvent): TaskUpdateEvent {
    return this.question === undefined || "artifact" in event
      ? event
      : { ...event, metadata: { [WAITING_STATE_KEY]: null } };
  }

  #end(): void {
    this.#isOver = true;
    this.#notifyReader?.();
  }

  #createAbortReason(): unknown {
    const { cancelMetadata, signal } = this.run;
    if (cancelMetadata) return toCancellationAbortReason(cancelMetadata);
    const isLimit = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
    return this.#isStoreDurable && !isLimit ? new TurnContinuesError() : new ServerClosingError();
  }
}

/** Returns the state of an agent whose task waits for an answer. */
export function findWaitingState({ metadata }: Pick<Task, "metadata">): WaitingState | undefined {
  const state = metadata?.[WAITING_STATE_KEY];
  return typeof state === "object" && state !== null ? (state as unknown as WaitingState) : undefined;
}
