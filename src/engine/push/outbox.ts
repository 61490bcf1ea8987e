import type { TaskScope } from "../caller.ts";
import { systemClock, type Clock } from "../clock.ts";
import { withSafeListeners, type Observer } from "../observer.ts";
import type { TaskStore } from "../task-store.ts";
import type { NotificationSender, DeliveryFailure } from "./notification-sender.ts";
import { FairScheduler } from "./fair-scheduler.ts";
import type { DeliveryPageOutcome, WebhookDelivery } from "./webhook-delivery.ts";
import { ProgressRecorder } from "./progress-recorder.ts";
import { computeRetryDelay, resolveRetryPolicy, type RetryPolicy } from "./retry-policy.ts";
import type { DeadLetter, PushStore, WebhookRegistration } from "./push-store.ts";
import { WaitGroup } from "./wait-group.ts";
import { ActiveWebhooks, type WatchedTask } from "./active-webhooks.ts";

export interface OutboxOptions {
  /** Must have `pushStore`, and be open before `open` is called. */
  readonly store: TaskStore & { readonly pushStore: PushStore };
  readonly deliver: NotificationSender;
  readonly observer?: Observer;
  readonly clock?: Clock;
  /** A source of numbers from 0 to 1. */
  readonly random?: () => number;
  readonly retry?: Partial<RetryPolicy>;
  /**
   * Deliveries under way at once to hosts that have answered. Default 64; up to half as many more to those that have not
   * yet, and a quarter for webhooks that have failed.
   */
  readonly maxConcurrent?: number;
  /** Deliveries under way at once to one host. Default 8. */
  readonly maxPerHost?: number;
  /** Tasks whose webhooks are served from memory; what is beyond waits in the store. Default 10,000. */
  readonly maxTasks?: number;
}

/** Hosts that are remembered to have answered. */
const MAX_RESPONSIVE_HOSTS = 10_000;

/**
 * Sends push notifications (E12): to each webhook of a task the task's events in order, each until it has arrived or the
 * webhook is given up. The log is what is to be sent; a webhook is a place in it. Nobody waits for the outbox: a commit
 * only leaves word, and what is not served from memory is found again in the store.
 */
export class Outbox {
  readonly #store: TaskStore & { readonly pushStore: PushStore };
  readonly #deliver: NotificationSender;
  readonly #observer: Observer;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #retryPolicy: RetryPolicy;
  readonly #progressRecorder: ProgressRecorder;
  readonly #activeWebhooks: ActiveWebhooks;
  /** Deliveries and look-ups. */
  readonly #waitGroup = new WaitGroup();
  readonly #responsiveScheduler: FairScheduler<WebhookDelivery>;
  /** Hosts that have not answered yet: apart, because anybody may name any number of them that hang. */
  readonly #newHostScheduler: FairScheduler<WebhookDelivery>;
  /** Those that failed last: apart, so that receivers that hang leave the others their places. */
  readonly #retryScheduler: FairScheduler<WebhookDelivery>;
  /** Hosts whose last answer was a success. */
  readonly #responsiveHosts = new Set<string>();
  readonly #stopController = new AbortController();
  #isClosing = false;

  constructor(options: OutboxOptions) {
    const { store, clock = systemClock, maxConcurrent: atOnce = 64, maxPerHost: perHost = 8 } = options;
    this.#store = store;
    this.#deliver = options.deliver;
    this.#observer = withSafeListeners(options.observer ?? {});
    this.#clock = clock;
    this.#random = options.random ?? Math.random;
    this.#retryPolicy = resolveRetryPolicy(options.retry);
    this.#responsiveScheduler = new FairScheduler({ atOnce, perLane: perHost });
    this.#newHostScheduler = new FairScheduler({
      atOnce: Math.ceil(atOnce / 2),
      perLane: Math.ceil(perHost / 2),
    });
    this.#retryScheduler = new FairScheduler({
      atOnce: Math.ceil(atOnce / 4),
      perLane: Math.ceil(perHost / 4),
    });
    const onError = (error: unknown, taskId?: string): void =>
      this.#observer.onError?.({ where: "push", error, ...(taskId === undefined ? {} : { taskId }) });
    this.#progressRecorder = new ProgressRecorder(
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
      onReady: (line) => this.#enqueue(line),
      onError,
    });
  }

  /** Goes on with all that is owed since before; in the background, because it may be much. */
  open(): void {
    void this.#activeWebhooks.loadDue();
  }

  /** Word of a commit, and of the webhooks that were registered with it. Never throws. */
  notifyCommit(task: WatchedTask, registered?: readonly WebhookRegistration[]): void {
    this.#activeWebhooks.notifyCommit(task, registered);
  }

  /** Word that the task's webhook of that id was removed, or registered, perhaps again: then `key` is the one it has. */
  notifyWebhookChange(scope: TaskScope, taskId: string, id: string, key?: number): void {
    this.#activeWebhooks.notifyWebhookChange(scope, taskId, id, key);
  }

  /** Lets what is under way arrive, for `graceMs` at most; what is not then is owed by the next process. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#activeWebhooks.stopRefilling();
    const quiet = this.#waitGroup.wait();
    if (quiet) {
      const cancel = this.#clock.schedule(graceMs, () => this.#stopController.abort());
      await quiet;
      cancel();
    }
    this.#stopController.abort();
    this.#activeWebhooks.cancelRetries();
    this.#progressRecorder.cancelScheduledFlush();
    await this.#progressRecorder.flush();
    this.#progressRecorder.cancelScheduledFlush();
  }

  #enqueue(line: WebhookDelivery): void {
    if (this.#isClosing && line.state === "waiting") return;
    line.state = "ready";
    this.#waitGroup.add();
    this.#selectScheduler(line).enqueue(line.host, line);
    this.#dispatchAll();
  }

  #selectScheduler(line: WebhookDelivery): FairScheduler<WebhookDelivery> {
    if (line.failureCount > 0) return this.#retryScheduler;
    return this.#responsiveHosts.has(line.host) ? this.#responsiveScheduler : this.#newHostScheduler;
  }

  #dispatchAll(): void {
    for (const lanes of [this.#responsiveScheduler, this.#newHostScheduler, this.#retryScheduler]) {
      for (let line = lanes.startNext(); line; line = lanes.startNext()) void this.#runDelivery(line, lanes);
    }
  }

  async #runDelivery(line: WebhookDelivery, lanes: FairScheduler<WebhookDelivery>): Promise<void> {
    line.state = "working";
    const end = await this.#deliverPage(line);
    lanes.release(line.host);
    line.state = "idle";
    if (!line.isObsolete) this.#applyOutcome(line, end);
    this.#dispatchAll();
    this.#waitGroup.done();
  }

  async #deliverPage(line: WebhookDelivery): Promise<DeliveryPageOutcome> {
    if (line.isObsolete || this.#stopController.signal.aborted) return "gone";
    try {
      return await line.deliverPage(this.#store, this.#deliver, this.#stopController.signal, () =>
        this.#recordDelivered(line),
      );
    } catch (error) {
      this.#observer.onError?.({ where: "push", error, taskId: line.webhook.taskId });
      return { ok: false, reason: "the task store does not answer" };
    }
  }

  #applyOutcome(line: WebhookDelivery, end: DeliveryPageOutcome): void {
    if (end === "more" || (end === "caught up" && line.hasNewEvents)) this.#enqueue(line);
    else if (end === "caught up") this.#activeWebhooks.markIdle(line);
    else if (end === "finished") this.#recordFinished(line);
    else if (end !== "gone" && !this.#stopController.signal.aborted) this.#recordFailure(line, end);
  }

  #recordDelivered(line: WebhookDelivery): void {
    line.failureCount = 0;
    line.failingSince = undefined;
    this.#addResponsiveHost(line.host);
    if (line.isObsolete) return;
    const { key, scope, taskId, config } = line.webhook;
    this.#progressRecorder.record({ key, deliveredSeq: line.deliveredSeq, isFinished: false });
    this.#observer.onPush?.({
      scope,
      taskId,
      configId: config.id,
      seq: line.deliveredSeq,
      outcome: "delivered",
    });
  }

  #addResponsiveHost(host: string): void {
    if (this.#responsiveHosts.has(host)) return;
    const [oldest] = this.#responsiveHosts.size < MAX_RESPONSIVE_HOSTS ? [] : this.#responsiveHosts;
    if (oldest !== undefined) this.#responsiveHosts.delete(oldest);
    this.#responsiveHosts.add(host);
  }

  #recordFinished(line: WebhookDelivery): void {
    this.#progressRecorder.record({
      key: line.webhook.key,
      deliveredSeq: line.deliveredSeq,
      isFinished: true,
    });
    this.#activeWebhooks.remove(line);
  }

  #recordFailure(
    line: WebhookDelivery,
    { reason, retryAfterMs, isPermanent: hopeless }: DeliveryFailure,
  ): void {
    const now = this.#clock.now();
    const first = line.failingSince === undefined;
    line.failingSince ??= now;
    line.failureCount++;
    this.#responsiveHosts.delete(line.host);
    line.releaseProjection();
    const { key, scope, taskId, config } = line.webhook;
    const seen = { scope, taskId, configId: config.id, seq: line.deliveredSeq + 1, reason };
    if (hopeless || now - line.failingSince >= this.#retryPolicy.giveUpAfterMs) {
      const dead: DeadLetter = { at: now, reason };
      this.#progressRecorder.record({
        key,
        deliveredSeq: line.deliveredSeq,
        isFinished: false,
        failingSince: line.failingSince,
        deadLetter: dead,
      });
      this.#observer.onPush?.({ ...seen, outcome: "dead" });
      this.#activeWebhooks.remove(line);
      return;
    }
    if (first) {
      this.#progressRecorder.record({
        key,
        deliveredSeq: line.deliveredSeq,
        isFinished: false,
        failingSince: line.failingSince,
      });
    }
    const pause = computeRetryDelay(line.failureCount, this.#random(), this.#retryPolicy, retryAfterMs);
    this.#observer.onPush?.({ ...seen, outcome: "failed", retryInMs: pause });
    if (this.#isClosing) return;
    line.state = "waiting";
    line.cancelRetry = this.#clock.schedule(pause, () => {
      line.cancelRetry = undefined;
      this.#enqueue(line);
    });
  }
}
