import type { AgentEvent, Run } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";

/** What can be said of a task. */
export type TaskUpdateEvent = Extract<AgentEvent, { status: unknown } | { artifact: unknown }>;

/**
 * Work on a task that outlives its turns: it goes on while the task waits for an answer (A2A: INPUT_REQUIRED ends the
 * turn), and what it says meanwhile waits for the next turn.
 */
export class ResumableWork<Answer> {
  readonly #onStop: (cancellation: JsonObject | undefined) => void;
  readonly #pendingEvents: TaskUpdateEvent[] = [];
  #notifyReader: (() => void) | undefined;
  #openQuestion: { readonly event: TaskUpdateEvent; readonly resolve: (answer: Answer) => void } | undefined;
  #ended = false;
  #abandoned = false;
  #activeTurns = 0;

  /** `onStop`: the task was cancelled, with that metadata, or (without any) the server closes. */
  constructor(onStop: (cancellation: JsonObject | undefined) => void) {
    this.#onStop = onStop;
  }

  /** Says something; after the end, nobody hears it. */
  emit(event: TaskUpdateEvent): void {
    if (this.#ended) return;
    this.#pendingEvents.push(event);
    this.#notifyReader?.();
  }

  /** Asks with an INPUT_REQUIRED event and waits for the answer. One question at a time. */
  askQuestion(event: TaskUpdateEvent): Promise<Answer> {
    return new Promise((resolve) => {
      this.#openQuestion = { event, resolve };
      this.emit(event);
    });
  }

  /** Nothing more will be said. */
  end(): void {
    this.#ended = true;
    this.#notifyReader?.();
  }

  /** Nobody will listen any more: the task was cancelled while it waited, or the turn was cut off. */
  abandon(cancellation: JsonObject | undefined): void {
    this.#abandoned = true;
    this.#onStop(cancellation);
  }

  get isAbandoned(): boolean {
    return this.#abandoned;
  }

  get isWaitingForAnswer(): boolean {
    return this.#openQuestion !== undefined;
  }

  /** A turn is under way, which says what is said. */
  get hasActiveTurn(): boolean {
    return this.#activeTurns > 0;
  }

  /** Gives the answer to the question that was asked, when there is one. */
  resolveQuestion(answer: Answer): void {
    const question = this.#openQuestion;
    this.#openQuestion = undefined;
    question?.resolve(answer);
  }

  /** Nobody waits for the answer any more. */
  withdrawQuestion(): void {
    this.#openQuestion = undefined;
  }

  /** Asks once more what was asked. */
  repeatQuestion(): void {
    if (this.#openQuestion) this.emit(this.#openQuestion.event);
  }

  /** What is said from now on, until a question is asked or the work is over. */
  async *streamTurn(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
    const onAbort = (): void => this.#onStop(run.cancelMetadata);
    run.signal.addEventListener("abort", onAbort, { once: true });
    if (run.signal.aborted) onAbort();
    let isOver = false;
    this.#activeTurns++;
    try {
      for (;;) {
        const event = this.#pendingEvents.shift();
        if (event) {
          // Behind a question nobody pulls.
          isOver = isInputRequired(event);
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
      if (!isOver) this.abandon(run.cancelMetadata);
    }
  }
}

function isInputRequired(event: TaskUpdateEvent): boolean {
  return "status" in event && event.status.state === "TASK_STATE_INPUT_REQUIRED";
}
