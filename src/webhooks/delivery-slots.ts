import { TokenBuckets } from "../base/data-structures/index.ts";
import type { Clock } from "../engine/index.ts";
import { FairScheduler } from "./fair-scheduler.ts";
import type { PushLimits } from "./push-limits.ts";
import type { WebhookDelivery } from "./webhook-delivery.ts";

/** Maximum number of hosts that are remembered as responsive. */
const MAX_RESPONSIVE_HOSTS = 10_000;

/**
 * Decides which deliveries may send: the slots and the rates per host and per owner (E12, E20). All ports of a host
 * count together for its rate, so that a caller cannot multiply the requests to a host by its ports.
 */
export class DeliverySlots {
  readonly #clock: Clock;
  readonly #hostRates: TokenBuckets;
  readonly #ownerRates: TokenBuckets;
  readonly #responsive: FairScheduler<WebhookDelivery>;
  /**
   * Schedules deliveries to hosts that have not responded yet. New hosts have a separate scheduler, because a caller can
   * register any number of hosts that never respond.
   */
  readonly #newHosts: FairScheduler<WebhookDelivery>;
  /**
   * Schedules webhooks whose last delivery failed. Failed webhooks have a separate scheduler, so that unresponsive
   * receivers do not use the slots of responsive receivers.
   */
  readonly #retries: FairScheduler<WebhookDelivery>;
  /** Hosts whose most recent response was a success. */
  readonly #responsiveHosts = new Set<string>();
  readonly #schedulerOfRunning = new Map<WebhookDelivery, FairScheduler<WebhookDelivery>>();

  /** `onDelayEnd` is called when `takeNext` may return another delivery, because a rate admits it. */
  constructor(limits: PushLimits, clock: Clock, onDelayEnd: () => void) {
    const { maxConcurrent, maxPerHost } = limits;
    this.#clock = clock;
    this.#hostRates = new TokenBuckets({ ratePerSecond: limits.maxPerSecondPerHost });
    this.#ownerRates = new TokenBuckets({ ratePerSecond: limits.maxPerSecondPerOwner });
    const createScheduler = (divisor: number): FairScheduler<WebhookDelivery> =>
      new FairScheduler({
        maxConcurrent: Math.ceil(maxConcurrent / divisor),
        maxPerKey: Math.ceil(maxPerHost / divisor),
        findOwnerDelay: (owner) => this.#ownerRates.findDelay(owner, clock.monotonic()),
        findKeyDelay: (host) => this.#findHostDelay(host),
        clock,
        onDelayEnd,
      });
    this.#responsive = createScheduler(1);
    this.#newHosts = createScheduler(2);
    this.#retries = createScheduler(4);
  }

  get #schedulers(): FairScheduler<WebhookDelivery>[] {
    return [this.#responsive, this.#newHosts, this.#retries];
  }

  enqueue(delivery: WebhookDelivery): void {
    const { owner, host, failedAttempts } = delivery;
    const newOrResponsive = this.#responsiveHosts.has(host) ? this.#responsive : this.#newHosts;
    (failedAttempts > 0 ? this.#retries : newOrResponsive).enqueue(owner, host, delivery);
  }

  /** Returns the next delivery that may send, which occupies a slot until `release` is called. */
  takeNext(): WebhookDelivery | undefined {
    for (const scheduler of this.#schedulers) {
      const delivery = scheduler.takeNextItem();
      if (delivery) {
        this.#schedulerOfRunning.set(delivery, scheduler);
        return delivery;
      }
    }
    return undefined;
  }

  release(delivery: WebhookDelivery): void {
    this.#schedulerOfRunning.get(delivery)?.release(delivery.owner, delivery.host);
    this.#schedulerOfRunning.delete(delivery);
  }

  /** Counts a sent notification. */
  countDelivery({ owner, host }: WebhookDelivery): void {
    const now = this.#clock.monotonic();
    this.#hostRates.takeToken(removePort(host), now);
    this.#ownerRates.takeToken(owner, now);
  }

  /** Returns true if the rates allow a further event of a running delivery now. */
  maySendMore({ owner, host }: WebhookDelivery): boolean {
    return (
      this.#findHostDelay(host) === 0 && this.#ownerRates.findDelay(owner, this.#clock.monotonic()) === 0
    );
  }

  /** Returns for how many milliseconds no delivery to the host may start. `host` may have a port. */
  #findHostDelay(host: string): number {
    return this.#hostRates.findDelay(removePort(host), this.#clock.monotonic());
  }

  /** Records whether the last delivery to a host has succeeded. */
  recordResponse(host: string, isSuccess: boolean): void {
    if (!isSuccess) this.#responsiveHosts.delete(host);
    else if (!this.#responsiveHosts.has(host)) {
      const [oldest] = this.#responsiveHosts.size < MAX_RESPONSIVE_HOSTS ? [] : this.#responsiveHosts;
      if (oldest !== undefined) this.#responsiveHosts.delete(oldest);
      this.#responsiveHosts.add(host);
    }
  }

  /** Ends all delays, because the outbox closes. */
  cancelDelays(): void {
    for (const scheduler of this.#schedulers) scheduler.cancelDelays();
  }
}

function removePort(host: string): string {
  return host.replace(/:\d+$/, "");
}
