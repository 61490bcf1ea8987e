/** A worker that replies to each input with one result. */
export interface QueuedWorker<Input> {
  send(input: Input): void;
  terminate(): void;
}

/** What a `WorkerQueue` needs of its environment. */
export interface WorkerQueueEnvironment<Input, Result> {
  /** Starts a worker. May throw, or call `onError` later. */
  readonly startWorker: (
    onResult: (result: Result | undefined) => void,
    onError: () => void,
  ) => QueuedWorker<Input>;
  /** Calls a function after a time in milliseconds, unless the returned function is called. */
  readonly schedule: (ms: number, callback: () => void) => () => void;
}

interface Job<Input, Result> {
  readonly input: Input;
  readonly onResult: (result: Result | undefined) => void;
}

/** Time in milliseconds after which the page gives up on an input. */
const WORKER_DEADLINE_MS = 3_000;

/**
 * Runs expensive functions of content of strangers in a worker, one after the other, so that the content cannot block the
 * page. An input that exceeds the deadline ends the worker, and the next input starts a new one.
 */
export class WorkerQueue<Input, Result> {
  readonly #environment: WorkerQueueEnvironment<Input, Result>;
  readonly #waiting = new Set<Job<Input, Result>>();
  #worker: QueuedWorker<Input> | undefined;
  #finishCurrent: ((result: Result | undefined) => void) | undefined;

  constructor(environment: WorkerQueueEnvironment<Input, Result>) {
    this.#environment = environment;
  }

  /**
   * Calls `onResult` with the result for an input, or with `undefined` if the worker fails. The returned function cancels a job
   * that has not started. A job that has started still calls `onResult`, so that content that grows with each event appears
   * before it is complete.
   */
  add(input: Input, onResult: (result: Result | undefined) => void): () => void {
    const job: Job<Input, Result> = { input, onResult };
    this.#waiting.add(job);
    this.#startNext();
    return () => void this.#waiting.delete(job);
  }

  #startNext(): void {
    const [next] = this.#waiting;
    if (!next || this.#finishCurrent) return;
    this.#waiting.delete(next);
    const cancelDeadline = this.#environment.schedule(WORKER_DEADLINE_MS, () => this.#giveUp());
    this.#finishCurrent = (result) => {
      cancelDeadline();
      this.#finishCurrent = undefined;
      next.onResult(result);
      this.#startNext();
    };
    try {
      this.#worker ??= this.#startWorker();
      this.#worker.send(next.input);
    } catch {
      this.#giveUp();
    }
  }

  #startWorker(): QueuedWorker<Input> {
    // A worker that was terminated may still reply.
    const ifCurrent = (action: () => void): void => {
      if (worker === this.#worker) action();
    };
    const worker = this.#environment.startWorker(
      (result) => ifCurrent(() => this.#finishCurrent?.(result)),
      () => ifCurrent(() => this.#giveUp()),
    );
    return worker;
  }

  #giveUp(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#finishCurrent?.(undefined);
  }
}
