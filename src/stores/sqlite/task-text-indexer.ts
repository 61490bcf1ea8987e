/** Time in milliseconds between a commit and the start of indexing, and between two batches. */
const INDEXING_DELAY_MS = 100;
/** Number of tasks in a batch. A batch of usual tasks blocks the event loop for a few milliseconds. */
const BATCH_SIZE = 50;

/** Work of the indexer on the open store. */
interface IndexingStore {
  /** Indexes queued tasks in one transaction, and returns whether more tasks wait. */
  readonly indexBatch: (limit: number) => boolean;
}

/** Indexes the text of tasks in the background, in small batches between the commits. */
export class TaskTextIndexer {
  readonly #store: IndexingStore;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: IndexingStore) {
    this.#store = store;
  }

  /** Starts to index soon, unless the indexer has already started. */
  schedule(): void {
    this.#timer ??= setTimeout(() => this.#indexBatch(), INDEXING_DELAY_MS).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #indexBatch(): void {
    this.#timer = undefined;
    try {
      if (this.#store.indexBatch(BATCH_SIZE)) this.schedule();
    } catch {
      // The tasks remain in the queue, and the next commit starts the indexer again.
    }
  }
}
