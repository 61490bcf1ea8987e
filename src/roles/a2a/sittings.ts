import type { AgentEvent, Clock, Run } from "../../engine/index.ts";
import { A2AError, type JsonObject } from "../../protocol/index.ts";
import type { Said, Sitting } from "./sitting.ts";
import { untilAborted } from "./until-aborted.ts";

export interface WaitingLimits {
  /** How many tasks may wait for an answer to their question at once. Default 1,000. */
  readonly maxWaiting?: number;
  /** How long each of them may wait, in milliseconds. Default an hour. */
  readonly waitMs?: number;
}

/** All work that is under way at an agent, by its task: in this process, and as long as it lives. */
export class Sittings<Answer, Work extends { readonly sitting: Sitting<Answer> }> {
  readonly #clock: Clock;
  readonly #limits: Required<WaitingLimits>;
  readonly #byTask = new Map<string, Work>();
  #waiting = 0;

  constructor(clock: Clock, { maxWaiting = 1000, waitMs = 3_600_000 }: WaitingLimits) {
    this.#clock = clock;
    this.#limits = { maxWaiting, waitMs };
  }

  find(taskId: string): Work | undefined {
    return this.#byTask.get(taskId);
  }

  begin(taskId: string, work: Work): Work {
    this.#byTask.set(taskId, work);
    return work;
  }

  /** What the work says in this turn; it is forgotten with the turn, unless it waits for an answer. */
  async *turn({ sitting }: Work, run: Run): AsyncGenerator<AgentEvent, void, undefined> {
    try {
      yield* sitting.turn(run);
    } finally {
      if (!sitting.isAsking) this.#byTask.delete(run.taskId);
    }
  }

  /** Waits for an answer until the signal aborts, but not for ever, and not with any number of others. */
  async ask(taskId: string, { sitting }: Work, question: Said, signal: AbortSignal): Promise<Answer> {
    const { maxWaiting, waitMs } = this.#limits;
    if (this.#waiting >= maxWaiting) {
      const text = `${maxWaiting} tasks wait for an answer already; try again later.`;
      throw new A2AError("RESOURCE_EXHAUSTED", text);
    }
    this.#waiting++;
    const forget = this.#clock.after(waitMs, () => this.giveUp(taskId, {}));
    try {
      return await untilAborted(sitting.ask(question), signal);
    } finally {
      sitting.withdraw();
      this.#waiting--;
      forget();
    }
  }

  /** The work is over. What it says last is kept for a while, when its task waits for an answer that it gave up. */
  end(taskId: string, { sitting }: Work): void {
    sitting.end();
    if (!sitting.isHeard) this.#clock.after(this.#limits.waitMs, () => this.#byTask.delete(taskId));
  }

  /** Nobody will answer any more: the work is stopped and forgotten. */
  giveUp(taskId: string, cancellation: JsonObject): void {
    const work = this.#byTask.get(taskId);
    this.#byTask.delete(taskId);
    work?.sitting.abandon(cancellation);
  }
}
