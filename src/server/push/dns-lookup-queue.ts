import { Deferred } from "../../data-structures/index.ts";
import { systemClock, type Clock } from "../../engine/index.ts";

/** All addresses of a host name; rejects when there are none. */
export type HostResolver = (hostname: string) => Promise<readonly string[]>;

export interface DnsLookupQueueOptions {
  readonly resolve: HostResolver;
  readonly clock?: Clock;
  /** Names that are looked up at once. Default 2. */
  readonly maxConcurrent?: number;
  /** Names that wait, or are looked up; past it one is refused. Default 1,000. */
  readonly maxPending?: number;
  /** How long who asks waits, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
}

/** A name that is looked up, or waits for that. */
interface PendingLookup {
  readonly hostname: string;
  readonly result: Deferred<readonly string[]>;
  /** When nobody waits for it any more. */
  expiresAt: number;
}

/**
 * Looks names up, a few at once. The system's resolver takes one of the process's four threads (libuv) for as long as a
 * name server keeps silent, and files need them, too; so a place is free again when the answer is there, not when nobody
 * waits for it any more. A name is never looked up twice at once: one that hangs takes one place.
 */
export class DnsLookupQueue {
  readonly #resolve: HostResolver;
  readonly #clock: Clock;
  readonly #maxConcurrent: number;
  readonly #maxPending: number;
  readonly #timeoutMs: number;
  readonly #pendingByName = new Map<string, PendingLookup>();
  readonly #queue: PendingLookup[] = [];
  #activeCount = 0;

  constructor({
    resolve,
    clock = systemClock,
    maxConcurrent: atOnce = 2,
    maxPending: most = 1000,
    timeoutMs = 5000,
  }: DnsLookupQueueOptions) {
    this.#resolve = resolve;
    this.#clock = clock;
    this.#maxConcurrent = atOnce;
    this.#maxPending = most;
    this.#timeoutMs = timeoutMs;
  }

  /** All addresses of a name; rejects when there are none, or none in time. */
  readonly resolve: HostResolver = (hostname) => {
    let wanted = this.#pendingByName.get(hostname);
    if (!wanted) {
      if (this.#pendingByName.size >= this.#maxPending)
        return Promise.reject(new Error("too many names are looked up"));
      wanted = { hostname, result: new Deferred(), expiresAt: 0 };
      this.#pendingByName.set(hostname, wanted);
      this.#queue.push(wanted);
    }
    wanted.expiresAt = this.#clock.monotonic() + this.#timeoutMs;
    const answer = this.#withTimeout(wanted);
    this.#startNext();
    return answer;
  };

  #withTimeout({ hostname, result: found }: PendingLookup): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error(`${hostname} was not resolved in ${this.#timeoutMs} ms`));
      const cancel = this.#clock.schedule(this.#timeoutMs, late);
      found.promise.then(resolve, reject).finally(cancel);
    });
  }

  #startNext(): void {
    while (this.#activeCount < this.#maxConcurrent) {
      const wanted = this.#queue.shift();
      if (!wanted) return;
      if (wanted.expiresAt > this.#clock.monotonic()) void this.#runLookup(wanted);
      else this.#pendingByName.delete(wanted.hostname);
    }
  }

  async #runLookup({ hostname, result: found }: PendingLookup): Promise<void> {
    this.#activeCount++;
    try {
      found.resolve(await this.#resolve(hostname));
    } catch (error) {
      found.reject(error);
    }
    this.#activeCount--;
    this.#pendingByName.delete(hostname);
    this.#startNext();
  }
}
