import type { LookupAddress, LookupOptions } from "node:dns";
import { isIPv6, type LookupFunction } from "node:net";
import type { WebhookUrlGuard } from "./webhook-url-guard.ts";

/**
 * Creates a DNS lookup function that returns only addresses that the URL guard allows. The lookups use the fair share of
 * `owner`.
 */
export function createGuardedLookup(guard: WebhookUrlGuard, owner: string): LookupFunction {
  return (hostname, options, callback) =>
    void lookUpAllowedAddresses(
      () => guard.resolveAllowedAddresses(hostname, owner),
      hostname,
      options,
      callback,
    );
}

async function lookUpAllowedAddresses(
  resolveAllowedAddresses: () => Promise<readonly string[]>,
  hostname: string,
  { all, family }: LookupOptions,
  callback: Parameters<LookupFunction>[2],
): Promise<void> {
  let candidates: LookupAddress[];
  try {
    const addresses = await resolveAllowedAddresses();
    candidates = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  } catch (error) {
    callback(error as NodeJS.ErrnoException, "");
    return;
  }
  const matching = candidates.filter(
    (address) => !family || family === address.family || family === `IPv${address.family}`,
  );
  const [first] = matching;
  if (!first) callback(new Error(`${hostname} has no IPv${family} address`), "");
  else if (all) callback(null, matching);
  else callback(null, first.address, first.family);
}
