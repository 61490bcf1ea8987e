import type { AgentEvent, Run } from "../../../engine/index.ts";
import type { JsonObject } from "../../../protocol/index.ts";

/** A status event or artifact event of a task. */
export type TaskUpdateEvent = Extract<AgentEvent, { status: unknown } | { artifact: unknown }>;

/**
 * Work on a task that continues over several turns. The work continues even after the A2A state
 * `INPUT_REQUIRED` has ended a turn. The next turn delivers the events that the work emitted between turns.
 */
export class ResumableWork<Answer> {
  readonly #onStop: (cancellation: JsonObject | undefined) => void;
  readonly #pendingEvents: TaskUpdateEvent[] = [];
  #notifyReader: (() => void) | undefined;
  #openQuestion: { readonly event: TaskUpdateEvent; readonly resolve: (answer: Answer) => void } | undefined;
  #ended = false;
  #abandoned = false;
  #activeTurns = 0;

  /**
   * If the task is canceled, `onStop` receives the metadata of the cancellation. If the server closes,
   * `onStop` receives no metadata.
   */
  constructor(onStop: (cancellation: JsonObject | undefined) => void) {
    this.#onStop = onStop;
  }

  /** Emits an event. Events are dropped after the work has ended. */
  emit(event: TaskUpdateEvent): void {
    if (this.#ended) return;
    this.#pendingEvents.push(event);
    this.#notifyReader?.();
  }

  /**
   * Emits an `INPUT_REQUIRED` event and resolves with the requester's answer. The work can have only one
   * unanswered question at a time.
   */
  askQuestion(event: TaskUpdateEvent): Promise<Answer> {
    return new Promise((resolve) => {
      this.#openQuestion = { event, resolve };
      this.emit(event);
    });
  }

  /** Ends the work. No event follows. */
  endWork(): void {
    this.#ended = true;
    this.#notifyReader?.();
  }

  /** Stops the work when a waiting task is canceled or when the turn is interrupted. */
  stopBeforeReply(cancellation: JsonObject | undefined): void {
    this.#abandoned = true;
    this.#onStop(cancellation);
  }

  get isStoppedBeforeReply(): boolean {
    return this.#abandoned;
  }

  get isWaitingForAnswer(): boolean {
    return this.#openQuestion !== undefined;
  }

  /** Whether an active turn delivers the events of the work. */
  get hasActiveTurn(): boolean {
    return this.#activeTurns > 0;
  }

  /** Resolves the unanswered question, if any, with an answer. */
  resolveQuestion(answer: Answer): void {
    const question = this.#openQuestion;
    this.#openQuestion = undefined;
    question?.resolve(answer);
  }

  /** Closes the unanswered question without an answer. */
  withdrawQuestion(): void {
    this.#openQuestion = undefined;
  }

  /** Emits the unanswered question again. */
  repeatQuestion(): void {
    if (this.#openQuestion) this.emit(this.#openQuestion.event);
  }

  /** Yields the events of the work until the work asks a question or ends. */
  async *streamTurnEvents(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
    const onAbort = (): void => this.#onStop(run.cancelMetadata);
    run.signal.addEventListener("abort", onAbort, { once: true });
    if (run.signal.aborted) onAbort();
    let isOver = false;
    this.#activeTurns++;
    try {
      for (;;) {
        const event = this.#pendingEvents.shift();
        if (event) {
          // The consumer does not pull after a question, so the turn is over here.
          isOver = isInputRequiredEvent(event);
          yield event;
          if (isOver) return;
        } else if (this.#ended) {
          isOver = true;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#notifyReader = resolve;
          });
        }
      }
    } finally {
      this.#activeTurns--;
      run.signal.removeEventListener("abort", onAbort);
      if (!isOver) this.stopBeforeReply(run.cancelMetadata);
    }
  }
}

function isInputRequiredEvent(event: TaskUpdateEvent): boolean {
  return "status" in event && event.status.state === "TASK_STATE_INPUT_REQUIRED";
}
