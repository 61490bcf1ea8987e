import { Deferred } from "../../data-structures/index.ts";
import { systemClock, type Clock } from "../../engine/index.ts";

/** Function that returns all IP addresses of a host name, and rejects if the host name has no address. */
export type HostResolver = (hostname: string) => Promise<readonly string[]>;

/** Options for `DnsLookupQueue`. */
interface DnsLookupQueueOptions {
  readonly resolve: HostResolver;
  readonly clock?: Clock;
  /** Maximum number of concurrent DNS lookups. Default: 2. */
  readonly maxConcurrent?: number;
  /** Maximum number of running and queued DNS lookups. Default: 1,000. */
  readonly maxPending?: number;
  /** Timeout of a DNS lookup in milliseconds. Default: 5,000. */
  readonly timeoutMs?: number;
}

interface PendingDnsLookup {
  readonly hostname: string;
  readonly result: Deferred<readonly string[]>;
  /** Time when the last caller stops waiting for the DNS lookup. */
  expiresAt: number;
}

/**
 * Limits the number of concurrent DNS lookups. Each lookup with the system resolver occupies one of four
 * libuv threads. File access needs these threads too. A lookup occupies a slot of the queue until the name
 * server answers, even after the timeout. Concurrent requests for the same host name share one lookup.
 */
export class DnsLookupQueue {
  readonly #resolve: HostResolver;
  readonly #clock: Clock;
  readonly #maxConcurrent: number;
  readonly #maxPending: number;
  readonly #timeoutMs: number;
  readonly #pendingByName = new Map<string, PendingDnsLookup>();
  readonly #queue: PendingDnsLookup[] = [];
  #activeCount = 0;

  constructor({
    resolve,
    clock = systemClock,
    maxConcurrent = 2,
    maxPending = 1000,
    timeoutMs = 5000,
  }: DnsLookupQueueOptions) {
    this.#resolve = resolve;
    this.#clock = clock;
    this.#maxConcurrent = maxConcurrent;
    this.#maxPending = maxPending;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Returns all IP addresses of a host name. Rejects if the host name has no address, the lookup times out,
   * or too many lookups are pending.
   */
  readonly resolve: HostResolver = (hostname) => {
    let lookup = this.#pendingByName.get(hostname);
    if (!lookup) {
      if (this.#pendingByName.size >= this.#maxPending)
        return Promise.reject(new Error("too many DNS lookups are pending"));
      lookup = { hostname, result: new Deferred(), expiresAt: 0 };
      this.#pendingByName.set(hostname, lookup);
      this.#queue.push(lookup);
    }
    lookup.expiresAt = this.#clock.monotonic() + this.#timeoutMs;
    const addresses = this.#withTimeout(lookup);
    this.#startNext();
    return addresses;
  };

  #withTimeout({ hostname, result }: PendingDnsLookup): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(new Error(`${hostname} was not resolved in ${this.#timeoutMs} ms`));
      const cancel = this.#clock.schedule(this.#timeoutMs, fail);
      result.promise.then(resolve, reject).finally(cancel);
    });
  }

  #startNext(): void {
    while (this.#activeCount < this.#maxConcurrent) {
      const lookup = this.#queue.shift();
      if (!lookup) return;
      if (lookup.expiresAt > this.#clock.monotonic()) void this.#runLookup(lookup);
      else this.#pendingByName.delete(lookup.hostname);
    }
  }

  async #runLookup({ hostname, result }: PendingDnsLookup): Promise<void> {
    this.#activeCount++;
    try {
      result.resolve(await this.#resolve(hostname));
    } catch (error) {
      result.reject(error);
    }
    this.#activeCount--;
    this.#pendingByName.delete(hostname);
    this.#startNext();
  }
}
