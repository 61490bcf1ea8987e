import { TokenBuckets } from "../../data-structures/index.ts";
import type { Clock } from "../clock.ts";
import type { PushLimits } from "./push-limits.ts";
import type { WebhookDelivery } from "./webhook-delivery.ts";

/**
 * Limits the number of deliveries per second to one host and for one owner. All ports of a host count together, so that
 * a caller cannot multiply the requests to a host by its ports.
 */
export class DeliveryRateLimits {
  readonly #clock: Clock;
  readonly #hosts: TokenBuckets;
  readonly #owners: TokenBuckets;

  constructor(
    {
      maxPerSecondPerHost,
      maxPerSecondPerOwner,
    }: Pick<PushLimits, "maxPerSecondPerHost" | "maxPerSecondPerOwner">,
    clock: Clock,
  ) {
    this.#clock = clock;
    this.#hosts = new TokenBuckets({ ratePerSecond: maxPerSecondPerHost });
    this.#owners = new TokenBuckets({ ratePerSecond: maxPerSecondPerOwner });
  }

  /** Returns for how many milliseconds no delivery to the host may start. `host` may have a port. */
  readonly findHostDelay = (host: string): number =>
    this.#hosts.findDelay(removePort(host), this.#clock.monotonic());

  /** Returns for how many milliseconds no delivery of the owner may start. */
  readonly findOwnerDelay = (owner: string): number => this.#owners.findDelay(owner, this.#clock.monotonic());

  /** Counts a delivery. */
  countDelivery({ owner, host }: WebhookDelivery): void {
    const now = this.#clock.monotonic();
    this.#hosts.takeToken(removePort(host), now);
    this.#owners.takeToken(owner, now);
  }

  /** Returns true if the delivery may send a further event now. */
  maySendMore({ owner, host }: WebhookDelivery): boolean {
    return this.findHostDelay(host) === 0 && this.findOwnerDelay(owner) === 0;
  }
}

function removePort(host: string): string {
  return host.replace(/:\d+$/, "");
}
