interface KeyedQueue<T> {
  readonly waiting: T[];
  runningCount: number;
  /** True while items of the key are ready to start. */
  isEligible: boolean;
}

/**
 * Schedules items with a limit on the number of concurrent items. Keys take turns. The number of concurrent
 * items per key is also limited. If the keys are host names, a slow host and a host with many webhooks cannot
 * delay other hosts.
 */
export class FairScheduler<T> {
  readonly #maxConcurrent: number;
  readonly #maxPerKey: number;
  readonly #queues = new Map<string, KeyedQueue<T>>();
  #eligibleKeys: string[] = [];
  #runningCount = 0;

  constructor({ maxConcurrent, maxPerKey }: { readonly maxConcurrent: number; readonly maxPerKey: number }) {
    this.#maxConcurrent = maxConcurrent;
    this.#maxPerKey = maxPerKey;
  }

  /** Appends an item to the queue of a key. */
  enqueue(key: string, item: T): void {
    let queue = this.#queues.get(key);
    if (!queue) this.#queues.set(key, (queue = { waiting: [], runningCount: 0, isEligible: false }));
    queue.waiting.push(item);
    this.#markKeyEligibleIfBelowLimit(key, queue);
  }

  /**
   * Returns the next item that may start, or `undefined` if no item may start. The item occupies a slot of
   * its key until `release` is called.
   */
  takeNextItem(): T | undefined {
    if (this.#runningCount >= this.#maxConcurrent) return undefined;
    const key = this.#eligibleKeys.shift();
    const queue = key === undefined ? undefined : this.#queues.get(key);
    if (key === undefined || !queue) return undefined;
    queue.isEligible = false;
    queue.runningCount++;
    this.#runningCount++;
    const item = queue.waiting.shift();
    this.#markKeyEligibleIfBelowLimit(key, queue);
    return item;
  }

  /** Releases one slot of a key, so that another item of the key can start. */
  release(key: string): void {
    const queue = this.#queues.get(key);
    if (!queue) return;
    queue.runningCount--;
    this.#runningCount--;
    if (queue.runningCount === 0 && queue.waiting.length === 0) this.#queues.delete(key);
    else this.#markKeyEligibleIfBelowLimit(key, queue);
  }

  #markKeyEligibleIfBelowLimit(key: string, queue: KeyedQueue<T>): void {
    if (queue.isEligible || queue.waiting.length === 0 || queue.runningCount >= this.#maxPerKey) return;
    queue.isEligible = true;
    this.#eligibleKeys.push(key);
  }
}
