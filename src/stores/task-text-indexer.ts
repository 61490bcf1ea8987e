import type { TextIndex } from "./server-store.ts";

/** Time in milliseconds between a commit and the start of indexing, and between two batches. */
const INDEXING_DELAY_MS = 100;
/** Number of tasks in a batch. A batch of usual tasks blocks the event loop for a few milliseconds. */
const BATCH_SIZE = 50;

/** Work of the indexer on the open store. */
interface IndexingStore {
  /** Prepares the store for the index. */
  readonly start: () => void | Promise<void>;
  /** Indexes at most `limit` tasks, and returns whether more tasks wait. */
  readonly indexBatch: (limit: number) => boolean | Promise<boolean>;
}

/** Indexes the text of tasks in the background, in small batches between the commits. */
export class TaskTextIndexer implements TextIndex {
  readonly #store: IndexingStore;
  #isStarted = false;
  #timer: NodeJS.Timeout | undefined;
  #runningBatch: Promise<void> | undefined;
  /** True if a commit has asked for another batch while a batch ran. */
  #isDue = false;

  constructor(store: IndexingStore) {
    this.#store = store;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  async start(): Promise<void> {
    if (this.#isStarted) return;
    await this.#store.start();
    this.#isStarted = true;
    this.schedule();
  }

  /** Indexes soon, if the index is started. */
  schedule(): void {
    if (!this.#isStarted) return;
    if (this.#runningBatch) this.#isDue = true;
    else this.#timer ??= startTimer(() => this.#startBatch());
  }

  /** Stops until the next call of `start`. Resolves once no batch runs. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#runningBatch;
  }

  #startBatch(): void {
    this.#timer = undefined;
    this.#isDue = false;
    this.#runningBatch = this.#indexBatch();
  }

  async #indexBatch(): Promise<void> {
    let hasMore = false;
    try {
      hasMore = await this.#store.indexBatch(BATCH_SIZE);
    } catch {
      // The tasks remain in the queue, and the next commit starts the indexer again.
    }
    this.#runningBatch = undefined;
    if (hasMore || this.#isDue) this.schedule();
  }
}

/** Starts a timer that does not keep the process alive. The timers of some workers have no `unref`. */
function startTimer(callback: () => void): NodeJS.Timeout {
  const timer = setTimeout(callback, INDEXING_DELAY_MS);
  timer.unref?.();
  return timer;
}
