import { Deferred, Quota } from "../../base/data-structures/index.ts";
import { systemClock, type Clock } from "../../engine/index.ts";
import { FairScheduler } from "../../webhooks/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { lookup, Resolver } from "node:dns/promises";

/** Function that returns all IP addresses of a host name, and rejects if the host name has no address. */
export type HostResolver = (hostname: string) => Promise<readonly string[]>;

/** Options for `DnsLookupQueue`. */
interface DnsLookupQueueOptions {
  readonly resolve: HostResolver;
  readonly clock?: Clock;
  /**
   * Maximum number of concurrent DNS lookups. The lookups of one owner use at most as many slots as remain free.
   * Default: 16.
   */
  readonly maxConcurrent?: number;
  /**
   * Maximum number of running and queued DNS lookups. The lookups of one owner use at most as many places as remain
   * free. Default: 1,000.
   */
  readonly maxPending?: number;
  /** Timeout of a DNS lookup in milliseconds. Default: 5,000. */
  readonly timeoutMs?: number;
}

interface PendingDnsLookup {
  readonly owner: string;
  readonly hostname: string;
  readonly releasePlace: () => void;
  readonly result: Deferred<readonly string[]>;
  /** Time when the last caller stops waiting for the DNS lookup. */
  expiresAt: number;
}

/**
 * Limits the number of concurrent DNS lookups, in total and by owner. Owners take turns, so that names that are never
 * resolved delay only their owner. A lookup occupies a slot of the queue until the resolver settles, even after the
 * timeout. Concurrent requests of one owner for the same host name share one lookup. Requests of other owners do not wait
 * for this lookup.
 */
export class DnsLookupQueue {
  readonly #resolve: HostResolver;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #places: Quota;
  readonly #pending = new Map<string, PendingDnsLookup>();
  readonly #scheduler: FairScheduler<PendingDnsLookup>;

  constructor({
    resolve,
    clock = systemClock,
    maxConcurrent = 16,
    maxPending = 1000,
    timeoutMs = 5000,
  }: DnsLookupQueueOptions) {
    this.#resolve = resolve;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#places = new Quota({
      capacity: maxPending,
      createError: (refusal) => createTooManyLookupsError(refusal, maxPending),
    });
    this.#scheduler = new FairScheduler({ maxConcurrent });
  }

  /**
   * Returns all IP addresses of a host name. Rejects if the host name has no address, the lookup times out, or too
   * many lookups of the owner are pending (`RESOURCE_EXHAUSTED`).
   */
  async resolve(hostname: string, owner: string): Promise<readonly string[]> {
    const lookup = this.#pending.get(getLookupKey(owner, hostname)) ?? this.#addLookup(hostname, owner);
    lookup.expiresAt = this.#clock.monotonic() + this.#timeoutMs;
    const addresses = this.#withTimeout(lookup);
    this.#startNext();
    return addresses;
  }

  #addLookup(hostname: string, owner: string): PendingDnsLookup {
    const releasePlace = this.#places.acquire(owner);
    const lookup = { owner, hostname, releasePlace, result: new Deferred<readonly string[]>(), expiresAt: 0 };
    // Each caller of `resolve` reports the rejection, unless the caller has stopped waiting.
    lookup.result.promise.catch(() => {});
    this.#pending.set(getLookupKey(owner, hostname), lookup);
    this.#scheduler.enqueue(owner, hostname, lookup);
    return lookup;
  }

  #withTimeout({ hostname, result }: PendingDnsLookup): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(new Error(`${hostname} was not resolved in ${this.#timeoutMs} ms`));
      const cancel = this.#clock.schedule(this.#timeoutMs, fail);
      result.promise.then(resolve, reject).finally(cancel);
    });
  }

  #startNext(): void {
    for (let lookup = this.#scheduler.takeNextItem(); lookup; lookup = this.#scheduler.takeNextItem()) {
      if (lookup.expiresAt > this.#clock.monotonic()) void this.#runLookup(lookup);
      else this.#endLookup(lookup);
    }
  }

  async #runLookup(lookup: PendingDnsLookup): Promise<void> {
    try {
      lookup.result.resolve(await this.#resolve(lookup.hostname));
    } catch (error) {
      lookup.result.reject(error);
    }
    this.#endLookup(lookup);
    this.#startNext();
  }

  #endLookup({ owner, hostname, releasePlace }: PendingDnsLookup): void {
    this.#pending.delete(getLookupKey(owner, hostname));
    releasePlace();
    this.#scheduler.release(owner, hostname);
  }
}

function getLookupKey(owner: string, hostname: string): string {
  return `${hostname} ${owner}`;
}

function createTooManyLookupsError(refusal: "capacity" | "share", maxPending: number): A2AError {
  const holder = refusal === "share" ? "this caller's share of " : "";
  return new A2AError(
    "RESOURCE_EXHAUSTED",
    `The host names of webhooks use up ${holder}the ${maxPending} pending DNS lookups; try again in a second, or use host names that can be resolved.`,
    { retryAfter: 1 },
  );
}

/**
 * Time in milliseconds after which a query without a response is canceled. The lookup then frees its slot, before
 * the timeout of `DnsLookupQueue`.
 */
const QUERY_TIMEOUT_MS = 4000;

/**
 * Creates a resolver that queries name servers (c-ares), by default the name servers of this machine. A query uses a
 * UDP socket and no thread. c-ares does not read /etc/hosts or the search domains of /etc/resolv.conf. If only one of
 * the queries for IPv4 and IPv6 succeeds, its addresses are the result.
 */
export function createNameServerResolver(
  nameServers?: readonly string[],
  timeoutMs: number = QUERY_TIMEOUT_MS,
): HostResolver {
  return async (hostname) => {
    const resolver = new Resolver({ timeout: timeoutMs / 4, tries: 2 });
    if (nameServers) resolver.setServers(nameServers);
    const cancelTimeout = systemClock.schedule(timeoutMs, () => resolver.cancel());
    try {
      const [ipv4, ipv6] = await Promise.allSettled([
        resolver.resolve4(hostname),
        resolver.resolve6(hostname),
      ]);
      if (ipv4.status === "rejected" && ipv6.status === "rejected") throw ipv4.reason;
      return [ipv4, ipv6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    } finally {
      cancelTimeout();
    }
  };
}

/** Returns the IP addresses of a host name like other programs on this machine, which includes /etc/hosts. */
const queryOperatingSystem: HostResolver = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/** Lookups of host names that callers choose. All URL guards of the process share this queue. */
export const nameServerLookups: DnsLookupQueue = new DnsLookupQueue({
  resolve: createNameServerResolver(),
});

/**
 * Lookups of host names that the operator has allowed. Each lookup occupies one of four threads of libuv, which file
 * access needs too, until the name server responds.
 */
export const operatingSystemLookups: DnsLookupQueue = new DnsLookupQueue({
  resolve: queryOperatingSystem,
  maxConcurrent: 2,
});
