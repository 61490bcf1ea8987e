import type { Clock } from "../clock.ts";
import type { WebhookDelivery } from "./webhook-delivery.ts";
import type { WebhookLeases } from "./push-store.ts";

/**
 * Time in milliseconds for which a confirmed lease counts as held. A node that was paused for longer asks the store
 * before it sends the next event.
 */
const CONFIRMATION_MS = 500;

/** Checks before each delivery that this node still holds the lease of the webhook. */
export class WebhookLeaseChecks {
  readonly #leases: WebhookLeases | undefined;
  readonly #clock: Clock;

  constructor(leases: WebhookLeases | undefined, clock: Clock) {
    this.#leases = leases;
    this.#clock = clock;
  }

  isHeld(delivery: WebhookDelivery): boolean | Promise<boolean> {
    if (!this.#leases || this.#clock.monotonic() - delivery.leaseConfirmedAt < CONFIRMATION_MS) return true;
    return this.#confirm(this.#leases, delivery);
  }

  async #confirm(leases: WebhookLeases, delivery: WebhookDelivery): Promise<boolean> {
    const askedAt = this.#clock.monotonic();
    const isHeld = await leases.isHeld(delivery.webhook.key);
    if (isHeld) delivery.leaseConfirmedAt = askedAt;
    return isHeld;
  }
}
