import type { AgentEvent } from "../engine/index.ts";
import type { Ending, Processor } from "./processor.ts";
import type { Holding, Silences } from "./silences.ts";
import type { AdkEvent } from "./types.ts";

/** A run that has begun, or the end of one that could not. */
export type Beginning = { readonly processor: Processor } & (
  | { readonly opening: AgentEvent; readonly events: AsyncGenerator<AdkEvent, void, undefined> }
  | { readonly ending: Ending }
);

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * What a task says during one ADK run. It is an iterator by hand, because it does two things that a generator cannot:
 * it lets go of held text when the run is silent, and leaves at once when it is aborted, though ADK returns from an
 * aborted run only when the tool that is running ends. A run that failed ends by throwing, after the task has said so:
 * the engine tells the error to the server's observer.
 */
export class RunStream implements AsyncIterator<AgentEvent, undefined>, Holding {
  slot = -1;
  silent = false;
  readonly #begin: () => Promise<Beginning>;
  readonly #signal: AbortSignal;
  readonly #silences: Silences;
  readonly #said: AgentEvent[] = [];
  #processor: Processor | undefined;
  #events: AsyncGenerator<AdkEvent, void, undefined> | undefined;
  #answer: ((result: IteratorResult<AgentEvent, undefined>) => void) | undefined;
  #source: AdkEvent | undefined;
  #pulling = false;
  #ended = false;
  #error: Error | undefined;

  constructor(begin: () => Promise<Beginning>, signal: AbortSignal, silences: Silences) {
    this.#begin = begin;
    this.#signal = signal;
    this.#silences = silences;
  }

  /** The ADK event that came last. */
  get source(): AdkEvent | undefined {
    return this.#source;
  }

  /** Leaves the run, which has failed for somebody else's fault; what the task says of that. */
  fail(what: string, error: unknown): Ending {
    this.#end();
    // Nothing was said, and so nothing could fail, before there was a processor.
    if (!this.#processor) throw error;
    return this.#processor.fail(what, error);
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    const value = this.#said.shift();
    if (value) return Promise.resolve({ value });
    if (this.#ended) return this.#last();
    return new Promise((answer, refuse) => {
      this.#answer = answer;
      if (this.#events && this.#processor) void this.#pull(this.#events, this.#processor);
      else this.#start().catch(refuse);
    });
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#end();
    this.#answer?.(DONE);
    return Promise.resolve(DONE);
  }

  async #start(): Promise<void> {
    this.#signal.addEventListener("abort", this.#onAbort, { once: true });
    if (this.#signal.aborted) return this.#onAbort();
    const beginning = await this.#begin();
    if (this.#ended) return;
    this.#processor = beginning.processor;
    if ("ending" in beginning) return this.#endWith(beginning.ending);
    this.#events = beginning.events;
    this.#say(beginning.opening);
  }

  /** Takes from the run until the task has something to say. */
  async #pull(events: AsyncGenerator<AdkEvent, void, undefined>, processor: Processor): Promise<void> {
    // After a silence the event that was asked for is still to come.
    if (this.#pulling) return;
    this.#pulling = true;
    try {
      do {
        if (processor.holding) this.#silences.watch(this);
        const { done, value } = await events.next();
        if (this.#ended) return;
        if (done) return this.#endWith(processor.finish());
        this.#source = value;
        for (const event of processor.take(value)) this.#say(event);
      } while (this.#answer);
    } catch (error) {
      if (!this.#ended) this.#endWith(processor.fail("agent run failed", error));
    } finally {
      this.#pulling = false;
    }
  }

  /** Why it was aborted, and so how the task ends, only the engine knows. */
  readonly #onAbort = (): void => {
    if (!this.#ended) this.#endWith({ events: this.#processor?.seal() ?? [] });
  };

  /** The run says nothing for a while: what is held is let go of. */
  onSilence(): void {
    for (const event of this.#processor?.release() ?? []) this.#say(event);
  }

  #say(value: AgentEvent): void {
    const answer = this.#answer;
    this.#answer = undefined;
    if (answer) answer({ value });
    else this.#said.push(value);
  }

  #endWith({ events, error }: Ending): void {
    this.#end();
    this.#error = error;
    for (const event of events) this.#say(event);
    this.#answer?.(DONE);
  }

  /** Nothing more is said; an error is thrown once. */
  #last(): Promise<IteratorReturnResult<undefined>> {
    const error = this.#error;
    this.#error = undefined;
    return error ? Promise.reject(error) : Promise.resolve(DONE);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#silences.forget(this);
    this.#signal.removeEventListener("abort", this.#onAbort);
    // Not waited for: it is answered when the generator gets to it, and nobody is left to tell of a failure.
    this.#events?.return().catch(() => {});
  }
}
