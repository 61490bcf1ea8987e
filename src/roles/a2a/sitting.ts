import type { AgentEvent, Run } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";

/** What can be said of a task. */
export type Said = Extract<AgentEvent, { status: unknown } | { artifact: unknown }>;

/**
 * Work on a task that outlives its turns: it goes on while the task waits for an answer (A2A: INPUT_REQUIRED ends the
 * turn), and what it says meanwhile waits for the next turn.
 */
export class Sitting<Answer> {
  readonly #onStop: (cancellation: JsonObject | undefined) => void;
  readonly #said: Said[] = [];
  #wake: (() => void) | undefined;
  #question: { readonly event: Said; readonly resolve: (answer: Answer) => void } | undefined;
  #ended = false;
  #abandoned = false;
  #turns = 0;

  /** `onStop`: the task was cancelled, with that metadata, or (without any) the server closes. */
  constructor(onStop: (cancellation: JsonObject | undefined) => void) {
    this.#onStop = onStop;
  }

  /** Says something; after the end, nobody hears it. */
  say(event: Said): void {
    if (this.#ended) return;
    this.#said.push(event);
    this.#wake?.();
  }

  /** Asks with an INPUT_REQUIRED event and waits for the answer. One question at a time. */
  ask(event: Said): Promise<Answer> {
    return new Promise((resolve) => {
      this.#question = { event, resolve };
      this.say(event);
    });
  }

  /** Nothing more will be said. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Nobody will listen any more: the task was cancelled while it waited, or the turn was cut off. */
  abandon(cancellation: JsonObject | undefined): void {
    this.#abandoned = true;
    this.#onStop(cancellation);
  }

  get isAbandoned(): boolean {
    return this.#abandoned;
  }

  get isAsking(): boolean {
    return this.#question !== undefined;
  }

  /** A turn is under way, which says what is said. */
  get isHeard(): boolean {
    return this.#turns > 0;
  }

  /** Gives the answer to the question that was asked, when there is one. */
  answer(answer: Answer): void {
    const question = this.#question;
    this.#question = undefined;
    question?.resolve(answer);
  }

  /** Nobody waits for the answer any more. */
  withdraw(): void {
    this.#question = undefined;
  }

  /** Asks once more what was asked. */
  repeat(): void {
    if (this.#question) this.say(this.#question.event);
  }

  /** What is said from now on, until a question is asked or the work is over. */
  async *turn(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
    const onAbort = (): void => this.#onStop(run.cancellation);
    run.signal.addEventListener("abort", onAbort, { once: true });
    if (run.signal.aborted) onAbort();
    let isOver = false;
    this.#turns++;
    try {
      for (;;) {
        const event = this.#said.shift();
        if (event) {
          // Behind a question nobody pulls.
          isOver = asks(event);
          yield event;
          if (isOver) return;
        } else if (this.#ended) {
          isOver = true;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.#turns--;
      run.signal.removeEventListener("abort", onAbort);
      if (!isOver) this.abandon(run.cancellation);
    }
  }
}

function asks(event: Said): boolean {
  return "status" in event && event.status.state === "TASK_STATE_INPUT_REQUIRED";
}
