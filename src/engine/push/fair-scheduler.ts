interface KeyedQueue<T> {
  readonly waiting: T[];
  runningCount: number;
  /** It stands among the lanes whose first may go when there is a place. */
  isEligible: boolean;
}

/**
 * Who goes next when only so many may go at once: lanes take turns, and none has more than its share under way. With a
 * lane for each host a slow one, or one with many webhooks, holds up only itself.
 */
export class FairScheduler<T> {
  readonly #maxConcurrent: number;
  readonly #maxPerKey: number;
  readonly #queues = new Map<string, KeyedQueue<T>>();
  #eligibleKeys: string[] = [];
  #runningCount = 0;

  constructor({ atOnce, perLane }: { readonly atOnce: number; readonly perLane: number }) {
    this.#maxConcurrent = atOnce;
    this.#maxPerKey = perLane;
  }

  /** Puts somebody at the end of a lane. */
  enqueue(name: string, who: T): void {
    let lane = this.#queues.get(name);
    if (!lane) this.#queues.set(name, (lane = { waiting: [], runningCount: 0, isEligible: false }));
    lane.waiting.push(who);
    this.#markEligible(name, lane);
  }

  /** Who may go now, if anybody; has a place from now on, to be given back with `release`. */
  startNext(): T | undefined {
    if (this.#runningCount >= this.#maxConcurrent) return undefined;
    const name = this.#eligibleKeys.shift();
    const lane = name === undefined ? undefined : this.#queues.get(name);
    if (name === undefined || !lane) return undefined;
    lane.isEligible = false;
    lane.runningCount++;
    this.#runningCount++;
    const who = lane.waiting.shift();
    this.#markEligible(name, lane);
    return who;
  }

  /** Gives back a place in a lane. */
  release(name: string): void {
    const lane = this.#queues.get(name);
    if (!lane) return;
    lane.runningCount--;
    this.#runningCount--;
    if (lane.runningCount === 0 && lane.waiting.length === 0) this.#queues.delete(name);
    else this.#markEligible(name, lane);
  }

  #markEligible(name: string, lane: KeyedQueue<T>): void {
    if (lane.isEligible || lane.waiting.length === 0 || lane.runningCount >= this.#maxPerKey) return;
    lane.isEligible = true;
    this.#eligibleKeys.push(name);
  }
}
