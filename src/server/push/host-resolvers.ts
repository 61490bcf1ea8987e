import { lookup, Resolver } from "node:dns/promises";
import { systemClock } from "../../engine/index.ts";
import { DnsLookupQueue, type HostResolver } from "./dns-lookup-queue.ts";

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
