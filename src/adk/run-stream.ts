import type { AgentEvent } from "../engine/index.ts";
import type { RunOutcome, RunEventProcessor } from "./run-event-processor.ts";
import type { IdleListener, IdleFlusher } from "./idle-flusher.ts";
import type { AdkEvent } from "./types.ts";

/** A run that has begun, or the end of one that could not. */
export type RunStart = { readonly processor: RunEventProcessor } & (
  | { readonly firstEvent: AgentEvent; readonly events: AsyncGenerator<AdkEvent, void, undefined> }
  | { readonly outcome: RunOutcome }
);

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * What a task says during one ADK run. It is an iterator by hand, because it does two things that a generator cannot:
 * it lets go of held text when the run is silent, and leaves at once when it is aborted, though ADK returns from an
 * aborted run only when the tool that is running ends. A run that failed ends by throwing, after the task has said so:
 * the engine tells the error to the server's observer.
 */
export class RunStream implements AsyncIterator<AgentEvent, undefined>, IdleListener {
  slot = -1;
  isIdle = false;
  readonly #startRun: () => Promise<RunStart>;
  readonly #signal: AbortSignal;
  readonly #idleFlusher: IdleFlusher;
  readonly #queue: AgentEvent[] = [];
  #processor: RunEventProcessor | undefined;
  #events: AsyncGenerator<AdkEvent, void, undefined> | undefined;
  #resolveNext: ((result: IteratorResult<AgentEvent, undefined>) => void) | undefined;
  #lastAdkEvent: AdkEvent | undefined;
  #isPulling = false;
  #hasEnded = false;
  #pendingError: Error | undefined;

  constructor(begin: () => Promise<RunStart>, signal: AbortSignal, silences: IdleFlusher) {
    this.#startRun = begin;
    this.#signal = signal;
    this.#idleFlusher = silences;
  }

  /** The ADK event that came last. */
  get lastAdkEvent(): AdkEvent | undefined {
    return this.#lastAdkEvent;
  }

  /** Leaves the run, which has failed for somebody else's fault; what the task says of that. */
  fail(what: string, error: unknown): RunOutcome {
    this.#close();
    // Nothing was said, and so nothing could fail, before there was a processor.
    if (!this.#processor) throw error;
    return this.#processor.fail(what, error);
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    const value = this.#queue.shift();
    if (value) return Promise.resolve({ value });
    if (this.#hasEnded) return this.#getFinalResult();
    return new Promise((answer, refuse) => {
      this.#resolveNext = answer;
      if (this.#events && this.#processor) void this.#pull(this.#events, this.#processor);
      else this.#start().catch(refuse);
    });
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#close();
    this.#resolveNext?.(DONE);
    return Promise.resolve(DONE);
  }

  async #start(): Promise<void> {
    this.#signal.addEventListener("abort", this.#onAbort, { once: true });
    if (this.#signal.aborted) return this.#onAbort();
    const beginning = await this.#startRun();
    if (this.#hasEnded) return;
    this.#processor = beginning.processor;
    if ("outcome" in beginning) return this.#finish(beginning.outcome);
    this.#events = beginning.events;
    this.#emit(beginning.firstEvent);
  }

  /** Takes from the run until the task has something to say. */
  async #pull(
    events: AsyncGenerator<AdkEvent, void, undefined>,
    processor: RunEventProcessor,
  ): Promise<void> {
    // After a silence the event that was asked for is still to come.
    if (this.#isPulling) return;
    this.#isPulling = true;
    try {
      do {
        if (processor.hasBufferedParts) this.#idleFlusher.watch(this);
        const { done, value } = await events.next();
        if (this.#hasEnded) return;
        if (done) return this.#finish(processor.finish());
        this.#lastAdkEvent = value;
        for (const event of processor.process(value)) this.#emit(event);
      } while (this.#resolveNext);
    } catch (error) {
      if (!this.#hasEnded) this.#finish(processor.fail("agent run failed", error));
    } finally {
      this.#isPulling = false;
    }
  }

  /** Why it was aborted, and so how the task ends, only the engine knows. */
  readonly #onAbort = (): void => {
    if (!this.#hasEnded) this.#finish({ events: this.#processor?.closeOpenArtifacts() ?? [] });
  };

  /** The run says nothing for a while: what is held is let go of. */
  onIdle(): void {
    for (const event of this.#processor?.flush() ?? []) this.#emit(event);
  }

  #emit(value: AgentEvent): void {
    const answer = this.#resolveNext;
    this.#resolveNext = undefined;
    if (answer) answer({ value });
    else this.#queue.push(value);
  }

  #finish({ events, error }: RunOutcome): void {
    this.#close();
    this.#pendingError = error;
    for (const event of events) this.#emit(event);
    this.#resolveNext?.(DONE);
  }

  /** Nothing more is said; an error is thrown once. */
  #getFinalResult(): Promise<IteratorReturnResult<undefined>> {
    const error = this.#pendingError;
    this.#pendingError = undefined;
    return error ? Promise.reject(error) : Promise.resolve(DONE);
  }

  #close(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#idleFlusher.unwatch(this);
    this.#signal.removeEventListener("abort", this.#onAbort);
    // Not waited for: it is answered when the generator gets to it, and nobody is left to tell of a failure.
    this.#events?.return().catch(() => {});
  }
}
