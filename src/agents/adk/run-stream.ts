import type { AgentEvent, Run } from "../../engine/index.ts";
import type { RunOutcome, RunEventProcessor } from "./run-event-processor.ts";
import type { FlushableRun, IdleRunFlusher } from "./idle-run-flusher.ts";
import { releaseRunContext } from "./adk-run-context.ts";
import { hasSavedFiles } from "./saved-file-artifacts.ts";
import type { AdkEvent } from "./adk-structural-types.ts";

/** A started run, or the result of a run that could not start. */
export type StartedRunOrOutcome = { readonly processor: RunEventProcessor } & (
  | {
      readonly firstEvent: AgentEvent;
      readonly events: AsyncGenerator<AdkEvent, void, undefined>;
      /** Adds the content of the files that an event reports as saved. */
      readonly addSavedFiles?: (event: AdkEvent) => Promise<AdkEvent>;
    }
  | { readonly outcome: RunOutcome }
);

const ITERATION_DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * Iterator over the engine events of one ADK run.
 *
 * The iterator is not a generator, because it must emit buffered text while the run is idle. On abort, the
 * iterator ends immediately. ADK itself waits until the current tool ends.
 *
 * If a run fails, the iterator first yields the failed status and then throws the error. The engine reports
 * the thrown error to the server's observer.
 */
export class RunStream implements AsyncIterator<AgentEvent, undefined>, FlushableRun {
  slot = -1;
  isIdle = false;
  readonly #startRun: () => Promise<StartedRunOrOutcome>;
  readonly #run: Pick<Run, "signal" | "progress">;
  readonly #idleFlusher: IdleRunFlusher;
  readonly #queue: AgentEvent[] = [];
  #processor: RunEventProcessor | undefined;
  #events: AsyncGenerator<AdkEvent, void, undefined> | undefined;
  #addSavedFiles: ((event: AdkEvent) => Promise<AdkEvent>) | undefined;
  #resolveNext: ((result: IteratorResult<AgentEvent, undefined>) => void) | undefined;
  #lastAdkEvent: AdkEvent | undefined;
  #isPulling = false;
  #hasEnded = false;
  #pendingError: Error | undefined;

  constructor(
    startRun: () => Promise<StartedRunOrOutcome>,
    run: Pick<Run, "signal" | "progress">,
    idleFlusher: IdleRunFlusher,
  ) {
    this.#startRun = startRun;
    this.#run = run;
    this.#idleFlusher = idleFlusher;
  }

  /** Returns the most recent ADK event. */
  get lastAdkEvent(): AdkEvent | undefined {
    return this.#lastAdkEvent;
  }

  /** Closes a run after one of its hooks has failed, and returns the failed result. */
  fail(what: string, error: unknown): RunOutcome {
    this.#close();
    // No hook can fail before the processor exists.
    if (!this.#processor) throw error;
    return this.#processor.fail(what, error);
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    const value = this.#queue.shift();
    if (value) return Promise.resolve({ value });
    if (this.#hasEnded) return this.#throwPendingErrorOrEnd();
    return new Promise((resolve, reject) => {
      this.#resolveNext = resolve;
      if (this.#events && this.#processor) void this.#pull(this.#events, this.#processor);
      else this.#start().catch(reject);
    });
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#close();
    this.#resolveNext?.(ITERATION_DONE);
    return Promise.resolve(ITERATION_DONE);
  }

  async #start(): Promise<void> {
    this.#run.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (this.#run.signal.aborted) return this.#onAbort();
    const start = await this.#startRun();
    if (this.#hasEnded) return;
    this.#processor = start.processor;
    if ("outcome" in start) return this.#finish(start.outcome);
    this.#events = start.events;
    this.#addSavedFiles = start.addSavedFiles;
    this.#emitAgentEvent(start.firstEvent);
  }

  /** Reads ADK events until the pending `next` call has a result. */
  async #pull(
    events: AsyncGenerator<AdkEvent, void, undefined>,
    processor: RunEventProcessor,
  ): Promise<void> {
    // After an idle flush, the previous read is still pending.
    if (this.#isPulling) return;
    this.#isPulling = true;
    try {
      do {
        if (processor.hasBufferedParts) this.#idleFlusher.watchRun(this);
        // The first text is emitted at once, unless the run has already produced the next event.
        const flush = processor.hasUnsentArtifact ? setImmediate(() => this.flushWhenIdle()) : undefined;
        const { done, value } = await events.next();
        if (flush) clearImmediate(flush);
        if (this.#hasEnded) return;
        if (done) return this.#finish(processor.finish());
        this.#run.progress();
        const adkEvent =
          this.#addSavedFiles && hasSavedFiles(value) ? await this.#addSavedFiles(value) : value;
        if (this.#hasEnded) return;
        this.#lastAdkEvent = adkEvent;
        for (const event of processor.process(adkEvent)) this.#emitAgentEvent(event);
      } while (this.#resolveNext);
    } catch (error) {
      if (!this.#hasEnded) this.#finish(processor.fail("agent run failed", error));
    } finally {
      this.#isPulling = false;
    }
  }

  /**
   * Closes the open artifacts when the run is aborted. On abort, the engine emits the final status, because
   * the engine knows the reason.
   */
  readonly #onAbort = (): void => {
    if (!this.#hasEnded) this.#finish({ events: this.#processor?.closeOpenArtifacts() ?? [] });
  };

  /** Emits the buffered text after the run has been idle for a while. */
  flushWhenIdle(): void {
    for (const event of this.#processor?.flush() ?? []) this.#emitAgentEvent(event);
  }

  #emitAgentEvent(value: AgentEvent): void {
    const resolve = this.#resolveNext;
    this.#resolveNext = undefined;
    if (resolve) resolve({ value });
    else this.#queue.push(value);
  }

  #finish({ events, error }: RunOutcome): void {
    this.#close();
    this.#pendingError = error;
    for (const event of events) this.#emitAgentEvent(event);
    this.#resolveNext?.(ITERATION_DONE);
  }

  /** Ends the iteration, and throws a pending error once. */
  #throwPendingErrorOrEnd(): Promise<IteratorReturnResult<undefined>> {
    const error = this.#pendingError;
    this.#pendingError = undefined;
    return error ? Promise.reject(error) : Promise.resolve(ITERATION_DONE);
  }

  #close(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#idleFlusher.unwatchRun(this);
    this.#run.signal.removeEventListener("abort", this.#onAbort);
    // Does not wait for the generator, which may return much later. Its errors have no consumer any more. Until it returns,
    // its tools can use the run.
    const release = (): void => releaseRunContext(this.#run);
    if (this.#events) this.#events.return().then(release, release);
    else release();
  }
}
