import type { TaskScope } from "../caller.ts";
import { systemClock, type Clock } from "../clock.ts";
import { withSafeListeners, type Observer } from "../observer.ts";
import type { TaskStore } from "../task-store.ts";
import type { NotificationSender, DeliveryFailure } from "./notification-sender.ts";
import { DeliveryRateLimits } from "./delivery-rate-limits.ts";
import { FairScheduler } from "./fair-scheduler.ts";
import { resolvePushLimits, type PushLimits } from "./push-limits.ts";
import type { DeliveryStepOutcome, WebhookDelivery } from "./webhook-delivery.ts";
import { DeliveryProgressRecorder } from "./delivery-progress-recorder.ts";
import { computeRetryDelay, resolveRetryPolicy, type RetryPolicy } from "./retry-policy.ts";
import type { PushStore, WebhookRegistration } from "./push-store.ts";
import { WebhookLeaseChecks } from "./webhook-lease-checks.ts";
import { RunningOperationCounter } from "./running-operation-counter.ts";
import { ActiveWebhooks, type PendingDeliveryCounts } from "./active-webhooks.ts";
import type { TaskWithPossibleWebhooks } from "./webhook-lookups.ts";

export interface OutboxOptions {
  /** Store with a `pushStore`. The store must be open before the outbox is opened. */
  readonly store: TaskStore & { readonly pushStore: PushStore };
  readonly deliver: NotificationSender;
  readonly observer?: Observer;
  readonly clock?: Clock;
  /** Returns a random number from 0 to 1, which varies the delay before a retry. */
  readonly random?: () => number;
  readonly retry?: Partial<RetryPolicy>;
  readonly limits?: Partial<PushLimits>;
  /**
   * Maximum number of tasks whose webhooks are kept in memory. The tasks of one owner use at most as many places as
   * remain free. The webhooks of further tasks stay in the store until other tasks are evicted. Default: 10,000.
   */
  readonly maxTasks?: number;
}

/** Maximum number of hosts that the outbox remembers as responsive. */
const MAX_RESPONSIVE_HOSTS = 10_000;

/**
 * Sends push notifications (E12). Each webhook receives the events of its task in order. The outbox retries
 * each event until the event is delivered or the webhook is dead. The task log contains the events to send.
 * For each webhook, the outbox stores only a position in the log. Commits do not wait for the outbox. A
 * commit only notifies the outbox. If the webhooks of the task are not in memory, the outbox loads the
 * webhooks from the store.
 */
export class Outbox {
  readonly limits: PushLimits;
  readonly #store: TaskStore & { readonly pushStore: PushStore };
  readonly #deliver: NotificationSender;
  readonly #observer: Observer;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #retryPolicy: RetryPolicy;
  readonly #progressRecorder: DeliveryProgressRecorder;
  readonly #activeWebhooks: ActiveWebhooks;
  /** Counts running deliveries and running webhook lookups. */
  readonly #waitGroup = new RunningOperationCounter();
  readonly #rateLimits: DeliveryRateLimits;
  readonly #leaseChecks: WebhookLeaseChecks;
  readonly #foundListeners: ((scope: TaskScope, taskId: string) => void)[] = [];
  readonly #responsiveScheduler: FairScheduler<WebhookDelivery>;
  /**
   * Schedules deliveries to hosts that have not responded yet. New hosts have a separate scheduler, because
   * a caller can register any number of hosts that never respond.
   */
  readonly #newHostScheduler: FairScheduler<WebhookDelivery>;
  /**
   * Schedules webhooks whose last delivery failed. Failed webhooks have a separate scheduler, so that
   * unresponsive receivers do not use the slots of responsive receivers.
   */
  readonly #retryScheduler: FairScheduler<WebhookDelivery>;
  /** Hosts whose most recent response was a success. */
  readonly #responsiveHosts = new Set<string>();
  readonly #stopController = new AbortController();
  #deliveredCount = 0;
  #isClosing = false;

  constructor(options: OutboxOptions) {
    const { store, clock = systemClock } = options;
    this.limits = resolvePushLimits(options.limits);
    const { maxConcurrent, maxPerHost } = this.limits;
    this.#store = store;
    this.#deliver = options.deliver;
    this.#observer = withSafeListeners(options.observer ?? {});
    this.#clock = clock;
    this.#random = options.random ?? Math.random;
    this.#retryPolicy = resolveRetryPolicy(options.retry);
    this.#rateLimits = new DeliveryRateLimits(this.limits, clock);
    this.#leaseChecks = new WebhookLeaseChecks(store.pushStore.leases, clock);
    this.#responsiveScheduler = this.#createScheduler(maxConcurrent, maxPerHost);
    this.#newHostScheduler = this.#createScheduler(Math.ceil(maxConcurrent / 2), Math.ceil(maxPerHost / 2));
    this.#retryScheduler = this.#createScheduler(Math.ceil(maxConcurrent / 4), Math.ceil(maxPerHost / 4));
    const onError = (error: unknown, taskId?: string): void =>
      this.#observer.onError?.({ where: "push", error, ...(taskId === undefined ? {} : { taskId }) });
    this.#progressRecorder = new DeliveryProgressRecorder(
      store.pushStore,
      clock,
      () => this.#activeWebhooks.evictIdle(),
      onError,
    );
    this.#activeWebhooks = new ActiveWebhooks({
      store: store.pushStore,
      clock,
      progressRecorder: this.#progressRecorder,
      waitGroup: this.#waitGroup,
      maxTasks: options.maxTasks ?? 10_000,
      onReady: (delivery) => this.#enqueue(delivery),
      onFound: (scope, taskId) => {
        for (const listener of this.#foundListeners) listener(scope, taskId);
      },
      onError,
    });
  }

  #createScheduler(maxConcurrent: number, maxPerKey: number): FairScheduler<WebhookDelivery> {
    return new FairScheduler({
      maxConcurrent,
      maxPerKey,
      findOwnerDelay: this.#rateLimits.findOwnerDelay,
      findKeyDelay: this.#rateLimits.findHostDelay,
      clock: this.#clock,
      onDelayEnd: () => this.#startReadyDeliveries(),
    });
  }

  /** Resumes the unfinished deliveries of earlier processes in the background, and polls for those of other nodes. */
  open(): void {
    this.#activeWebhooks.startLoading();
  }

  /** Number of notifications that receivers have accepted. */
  get deliveredCount(): number {
    return this.#deliveredCount;
  }

  /** Numbers of the webhooks in the memory of this node that have not received all events. */
  get pendingDeliveryCounts(): PendingDeliveryCounts {
    return this.#activeWebhooks.countPendingDeliveries();
  }

  /** Starts the due deliveries. Resolves once they are in memory. */
  loadDueWebhooks(): Promise<void> {
    return this.#activeWebhooks.loadDueWebhooks();
  }

  /** Resolves once no delivery is running. Deliveries that wait for a retry are not running. */
  async waitUntilIdle(): Promise<void> {
    await this.#waitGroup.waitForZero();
    await this.#progressRecorder.flush();
  }

  /**
   * Calls `listener` when the store has a webhook for a task. Another node may have registered the webhook, so the
   * commits of the task must notify the outbox from now on.
   */
  onWebhookFound(listener: (scope: TaskScope, taskId: string) => void): void {
    this.#foundListeners.push(listener);
  }

  /** Reports a commit of a task and the webhooks that the commit registered. Never throws. */
  notifyCommit(task: TaskWithPossibleWebhooks, registered?: readonly WebhookRegistration[]): void {
    this.#activeWebhooks.notifyCommit(task, registered);
  }

  /**
   * Reports that a webhook of the task was registered, replaced, or removed. `key` is the new key of the
   * webhook, or `undefined` if the webhook was removed.
   */
  notifyWebhookChange(scope: TaskScope, taskId: string, id: string, key?: number): void {
    this.#activeWebhooks.notifyWebhookChange(scope, taskId, id, key);
  }

  /**
   * Closes the outbox. Running deliveries have `graceMs` milliseconds to finish. The next process sends the
   * undelivered events.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#activeWebhooks.stopLoadingFromStore();
    const idle = this.#waitGroup.waitForZero();
    if (idle) {
      const cancel = this.#clock.schedule(graceMs, () => this.#stopDeliveries());
      await idle;
      cancel();
    }
    this.#stopController.abort();
    this.#activeWebhooks.cancelRetries();
    this.#progressRecorder.cancelScheduledFlush();
    await this.#progressRecorder.flush();
    await this.#activeWebhooks.releaseAllLeases();
    this.#progressRecorder.cancelScheduledFlush();
  }

  /** Ends running deliveries. Deliveries that wait end without sending an event. */
  #stopDeliveries(): void {
    this.#stopController.abort();
    for (const scheduler of this.#schedulers) scheduler.cancelDelays();
    this.#startReadyDeliveries();
  }

  get #schedulers(): FairScheduler<WebhookDelivery>[] {
    return [this.#responsiveScheduler, this.#newHostScheduler, this.#retryScheduler];
  }

  #enqueue(delivery: WebhookDelivery): void {
    if (this.#isClosing && delivery.state === "waiting") return;
    delivery.state = "ready";
    this.#waitGroup.increment();
    this.#selectScheduler(delivery).enqueue(delivery.owner, delivery.host, delivery);
    this.#startReadyDeliveries();
  }

  #selectScheduler(delivery: WebhookDelivery): FairScheduler<WebhookDelivery> {
    if (delivery.failureCount > 0) return this.#retryScheduler;
    return this.#responsiveHosts.has(delivery.host) ? this.#responsiveScheduler : this.#newHostScheduler;
  }

  #startReadyDeliveries(): void {
    for (const scheduler of this.#schedulers) {
      for (let delivery = scheduler.takeNextItem(); delivery; delivery = scheduler.takeNextItem())
        void this.#runDeliveryStep(delivery, scheduler);
    }
  }

  async #runDeliveryStep(
    delivery: WebhookDelivery,
    scheduler: FairScheduler<WebhookDelivery>,
  ): Promise<void> {
    delivery.state = "working";
    const outcome = await this.#deliverLogPage(delivery);
    scheduler.release(delivery.owner, delivery.host);
    delivery.state = "idle";
    if (!delivery.isObsolete) this.#applyOutcome(delivery, outcome);
    this.#startReadyDeliveries();
    this.#waitGroup.decrement();
  }

  async #deliverLogPage(delivery: WebhookDelivery): Promise<DeliveryStepOutcome> {
    if (delivery.isObsolete || this.#stopController.signal.aborted) return "gone";
    try {
      return await delivery.deliverLogPage({
        store: this.#store,
        deliver: (notification, signal) => {
          this.#rateLimits.countDelivery(delivery);
          return this.#deliver(notification, signal);
        },
        signal: this.#stopController.signal,
        onDelivered: () => this.#recordDelivered(delivery),
        maySendMore: () => this.#rateLimits.maySendMore(delivery),
        isLeaseHeld: () => this.#leaseChecks.isHeld(delivery),
      });
    } catch (error) {
      this.#observer.onError?.({ where: "push", error, taskId: delivery.webhook.taskId });
      return { ok: false, reason: "the task store is not available" };
    }
  }

  #applyOutcome(delivery: WebhookDelivery, outcome: DeliveryStepOutcome): void {
    if (outcome === "more" || (outcome === "caught up" && delivery.hasNewEvents)) this.#enqueue(delivery);
    else if (outcome === "caught up") this.#activeWebhooks.markIdle(delivery);
    else if (outcome === "finished") this.#recordWebhookFinished(delivery);
    else if (outcome === "lost") this.#activeWebhooks.removeLost(delivery);
    else if (outcome !== "gone" && !this.#stopController.signal.aborted)
      this.#recordFailure(delivery, outcome);
  }

  #recordDelivered(delivery: WebhookDelivery): void {
    this.#deliveredCount++;
    delivery.failureCount = 0;
    delivery.clearFailingTime();
    this.#addResponsiveHost(delivery.host);
    if (delivery.isObsolete) return;
    const { key, scope, taskId, config } = delivery.webhook;
    this.#progressRecorder.recordProgress({ key, deliveredSeq: delivery.deliveredSeq, isFinished: false });
    this.#observer.onPush?.({
      scope,
      taskId,
      configId: config.id,
      seq: delivery.deliveredSeq,
      outcome: "delivered",
    });
  }

  #addResponsiveHost(host: string): void {
    if (this.#responsiveHosts.has(host)) return;
    const [oldest] = this.#responsiveHosts.size < MAX_RESPONSIVE_HOSTS ? [] : this.#responsiveHosts;
    if (oldest !== undefined) this.#responsiveHosts.delete(oldest);
    this.#responsiveHosts.add(host);
  }

  #recordWebhookFinished(delivery: WebhookDelivery): void {
    this.#progressRecorder.recordProgress({
      key: delivery.webhook.key,
      deliveredSeq: delivery.deliveredSeq,
      isFinished: true,
    });
    this.#activeWebhooks.remove(delivery);
  }

  #recordFailure(delivery: WebhookDelivery, { reason, retryAfterMs, isPermanent }: DeliveryFailure): void {
    const now = this.#clock.now();
    const isFirstFailure = delivery.failingSince === undefined;
    delivery.failingSince ??= now;
    const failingForMs = delivery.measureFailingTime(this.#clock);
    delivery.failureCount++;
    this.#responsiveHosts.delete(delivery.host);
    delivery.releaseTaskSnapshot();
    const { key, scope, taskId, config } = delivery.webhook;
    const report = { scope, taskId, configId: config.id, seq: delivery.deliveredSeq + 1, reason };
    const isDead = isPermanent || failingForMs >= this.#retryPolicy.giveUpAfterMs;
    if (isDead || isFirstFailure) {
      this.#progressRecorder.recordProgress({
        key,
        deliveredSeq: delivery.deliveredSeq,
        isFinished: false,
        failingSince: delivery.failingSince,
        ...(isDead ? { deadLetter: { at: now, reason } } : {}),
      });
    }
    if (isDead) {
      this.#observer.onPush?.({ ...report, outcome: "dead" });
      this.#activeWebhooks.remove(delivery);
      return;
    }
    const delayMs = computeRetryDelay(delivery.failureCount, this.#random(), this.#retryPolicy, retryAfterMs);
    this.#observer.onPush?.({ ...report, outcome: "failed", isFirstFailure, retryInMs: delayMs });
    if (this.#isClosing) return;
    delivery.state = "waiting";
    delivery.cancelRetry = this.#clock.schedule(delayMs, () => {
      delivery.cancelRetry = undefined;
      this.#enqueue(delivery);
    });
  }
}
