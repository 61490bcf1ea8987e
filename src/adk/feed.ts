/** What a feed answers when no event came. */
export type Silence = "aborted" | "idle";

/**
 * Pulls from a generator that may hang. ADK returns from an aborted run only when the tool that is running ends, so
 * an abort answers at once and leaves the generator to itself. The owner calls `close` in every case.
 */
export class Feed<T> {
  readonly #events: AsyncGenerator<T, void, undefined>;
  readonly #signal: AbortSignal;
  readonly #idleMs: number;
  readonly #onAbort: () => void;
  #timer: NodeJS.Timeout | undefined;
  #pulling = false;
  #answer: ((result: IteratorResult<T, void> | Silence) => void) | undefined;
  #refuse: ((error: unknown) => void) | undefined;

  constructor(events: AsyncGenerator<T, void, undefined>, signal: AbortSignal, idleMs: number) {
    this.#events = events;
    this.#signal = signal;
    this.#idleMs = idleMs;
    this.#onAbort = () => this.#answer?.("aborted");
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** The next event; `idle` when `mayIdle` and none came for a while, after which the same event is waited for again. */
  next(mayIdle: boolean): Promise<IteratorResult<T, void> | Silence> {
    if (this.#signal.aborted) return Promise.resolve("aborted");
    if (mayIdle) this.#startTimer();
    return new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#refuse = reject;
      if (!this.#pulling) void this.#pull();
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#onAbort);
    // Not waited for: it is answered when the generator gets to it, and nobody is left to tell of a failure.
    this.#events.return().catch(() => {});
  }

  async #pull(): Promise<void> {
    this.#pulling = true;
    try {
      const result = await this.#events.next();
      this.#pulling = false;
      this.#answer?.(result);
    } catch (error) {
      this.#refuse?.(error);
    }
  }

  #startTimer(): void {
    // One timer that is set anew for every event; what fires late finds a promise that is settled already.
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#answer?.("idle"), this.#idleMs).unref();
  }
}
