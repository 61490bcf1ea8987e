import type { AgentEvent, Clock, Run } from "../../engine/index.ts";
import { A2AError, type JsonObject } from "../../protocol/index.ts";
import type { TaskUpdateEvent, ResumableWork } from "./resumable-work.ts";
import { untilAborted } from "./until-aborted.ts";

export interface AnswerWaitLimits {
  /** How many tasks may wait for an answer to their question at once. Default 1,000. */
  readonly maxWaitingTasks?: number;
  /** How long each of them may wait, in milliseconds. Default an hour. */
  readonly answerTimeoutMs?: number;
}

/** All work that is under way at an agent, by its task: in this process, and as long as it lives. */
export class ResumableWorkRegistry<Answer, Work extends { readonly work: ResumableWork<Answer> }> {
  readonly #clock: Clock;
  readonly #limits: Required<AnswerWaitLimits>;
  readonly #byTaskId = new Map<string, Work>();
  #waitingCount = 0;

  constructor(clock: Clock, { maxWaitingTasks = 1000, answerTimeoutMs = 3_600_000 }: AnswerWaitLimits) {
    this.#clock = clock;
    this.#limits = { maxWaitingTasks, answerTimeoutMs };
  }

  find(taskId: string): Work | undefined {
    return this.#byTaskId.get(taskId);
  }

  register(taskId: string, work: Work): Work {
    this.#byTaskId.set(taskId, work);
    return work;
  }

  /** What the work says in this turn; it is forgotten with the turn, unless it waits for an answer. */
  async *streamTurn({ work }: Work, run: Run): AsyncGenerator<AgentEvent, void, undefined> {
    try {
      yield* work.streamTurn(run);
    } finally {
      if (!work.isWaitingForAnswer) this.#byTaskId.delete(run.taskId);
    }
  }

  /** Waits for an answer until the signal aborts, but not for ever, and not with any number of others. */
  async askQuestion(
    taskId: string,
    { work }: Work,
    question: TaskUpdateEvent,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { maxWaitingTasks, answerTimeoutMs } = this.#limits;
    if (this.#waitingCount >= maxWaitingTasks) {
      const text = `${maxWaitingTasks} tasks wait for an answer already; try again later.`;
      throw new A2AError("RESOURCE_EXHAUSTED", text);
    }
    this.#waitingCount++;
    const cancelTimer = this.#clock.schedule(answerTimeoutMs, () => this.abandonWork(taskId, {}));
    try {
      return await untilAborted(work.askQuestion(question), signal);
    } finally {
      work.withdrawQuestion();
      this.#waitingCount--;
      cancelTimer();
    }
  }

  /** The work is over. What it says last is kept for a while, when its task waits for an answer that it gave up. */
  endWork(taskId: string, { work }: Work): void {
    work.end();
    if (!work.hasActiveTurn)
      this.#clock.schedule(this.#limits.answerTimeoutMs, () => this.#byTaskId.delete(taskId));
  }

  /** Nobody will answer any more: the work is stopped and forgotten. */
  abandonWork(taskId: string, cancellation: JsonObject): void {
    const work = this.#byTaskId.get(taskId);
    this.#byTaskId.delete(taskId);
    work?.work.abandon(cancellation);
  }
}
