import type { AgentEvent, Clock, Run } from "../../../engine/index.ts";
import { A2AError, type JsonObject } from "../../../protocol/index.ts";
import type { TaskUpdateEvent, ResumableWork } from "./resumable-work.ts";
import { untilAborted } from "../../../client/index.ts";

/** Limits for tasks that wait for an answer to a query. */
export interface WaitingTaskLimits {
  /** Maximum number of tasks that wait for a query answer at the same time. Default: 1,000. */
  readonly maxWaitingTasks?: number;
  /** Maximum time in milliseconds that a task waits for a query answer. Default: 1 hour. */
  readonly answerTimeoutMs?: number;
}

/** In-memory registry of an agent's active work, by task id. */
export class ResumableWorkRegistry<Answer, Work extends { readonly work: ResumableWork<Answer> }> {
  readonly #clock: Clock;
  readonly #limits: Required<WaitingTaskLimits>;
  readonly #byTaskId = new Map<string, Work>();
  #waitingCount = 0;

  constructor(clock: Clock, { maxWaitingTasks = 1000, answerTimeoutMs = 3_600_000 }: WaitingTaskLimits) {
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

  /**
   * Yields the events of one turn. After the turn, the registry removes the work, unless the work waits for
   * an answer.
   */
  async *streamTurnEvents({ work }: Work, run: Run): AsyncGenerator<AgentEvent, void, undefined> {
    try {
      yield* work.streamTurnEvents(run);
    } finally {
      if (!work.isWaitingForAnswer) this.#byTaskId.delete(run.taskId);
    }
  }

  /**
   * Sends a question to the requester and resolves with the answer. Rejects if the signal aborts, or if the
   * number of waiting tasks exceeds the limit. If the answer does not arrive in time, the registry abandons
   * the work.
   */
  async askQuestion(
    taskId: string,
    { work }: Work,
    question: TaskUpdateEvent,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { maxWaitingTasks, answerTimeoutMs } = this.#limits;
    if (this.#waitingCount >= maxWaitingTasks) {
      const text = `${maxWaitingTasks} tasks already wait for an answer. Try again later.`;
      throw new A2AError("RESOURCE_EXHAUSTED", text);
    }
    this.#waitingCount++;
    const cancelTimer = this.#clock.schedule(answerTimeoutMs, () => this.stopAndRemoveWork(taskId, {}));
    try {
      return await untilAborted(work.askQuestion(question), signal);
    } finally {
      work.withdrawQuestion();
      this.#waitingCount--;
      cancelTimer();
    }
  }

  /**
   * Ends the work. If no turn is active, the last events wait for the next turn until the answer timeout
   * expires.
   */
  endWorkAndScheduleRemoval(taskId: string, { work }: Work): void {
    work.endWork();
    if (!work.hasActiveTurn)
      this.#clock.schedule(this.#limits.answerTimeoutMs, () => this.#byTaskId.delete(taskId));
  }

  /** Stops and removes work that can no longer receive an answer. */
  stopAndRemoveWork(taskId: string, cancellation: JsonObject): void {
    const work = this.#byTaskId.get(taskId);
    this.#byTaskId.delete(taskId);
    work?.work.stopBeforeReply(cancellation);
  }
}
