import { Quota } from "../base/data-structures/index.ts";
import {
  getTaskKey,
  type TaskScope,
  systemClock,
  type Clock,
  withSafeListeners,
  type Observer,
  type TaskStore,
  type PushOutbox,
  type TaskWithPossibleWebhooks,
  type WebhookRegistration,
} from "../engine/index.ts";
import type { PushStore, Webhook, WebhookProgress } from "./push-store.ts";
import { DeliverySlots } from "./delivery-slots.ts";
import type { NotificationSender, DeliveryFailure } from "./notification-sender.ts";
import { resolvePushLimits, type PushLimits } from "./push-limits.ts";
import { computeRetryDelay, resolveRetryPolicy, type RetryPolicy } from "./retry-policy.ts";
import { RunningOperationCounter } from "./running-operation-counter.ts";
import { WebhookDelivery, type DeliveryStepOutcome, getWebhookOwner } from "./webhook-delivery.ts";

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
   * Maximum number of tasks whose webhooks this node claims at the same time. The tasks of one owner use at most as many
   * places as remain free. The webhooks of further tasks stay in the store until other webhooks are released.
   * Default: 10,000.
   */
  readonly maxTasks?: number;
}

/**
 * Numbers of webhooks that have not received all events. `ready`: the delivery waits for a slot. `sending`: the delivery
 * is in progress. `retry`: the delivery has failed, and waits in the store for its next attempt.
 */
export interface PendingDeliveryCounts {
  readonly ready: number;
  readonly sending: number;
  readonly retry: number;
}

/** The webhooks of one task that this node has claimed. */
interface ClaimedTaskWebhooks {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly deliveries: Map<number, WebhookDelivery>;
  /** False if all webhooks of the task that can receive the next event at once are in `deliveries`. */
  mayHaveUnclaimed: boolean;
  /** True if all deliveries of the task have been idle since the last save of the progress. */
  wasIdleAtSave: boolean;
}

/** A claim of the webhooks of one task that is in progress. */
interface RunningClaim {
  task: TaskWithPossibleWebhooks | undefined;
  /** True if a commit is the latest reason. All active webhooks of the task then have undelivered events. */
  isAfterCommit: boolean;
  mustRepeat: boolean;
}

/**
 * Interval in milliseconds between saves of the delivery progress. After a crash, the next process repeats the
 * deliveries of at most one interval.
 */
const SAVE_INTERVAL_MS = 500;
const STORE_RETRY_MS = 1000;
const SEARCH_PAGE_SIZE = 256;
/** Number of polls for the webhooks that other nodes have left, until a poll searches all webhooks. */
const POLLS_PER_SEARCH_OF_ALL = 60;
/** Minimum delay in milliseconds before a search for retries, so that retries that are due together share a search. */
const MIN_SEARCH_DELAY_MS = 20;
/**
 * Time in milliseconds for which a confirmed claim counts as held. A node that was paused for longer asks the store
 * before it sends the next event.
 */
const CLAIM_CONFIRMATION_MS = 500;

/**
 * A search for due retries and for webhooks that other nodes have left, for all webhooks with undelivered events, or for
 * all of them at the start of the process. A later kind includes the earlier kinds.
 */
const SEARCH_KINDS = ["due", "all", "restart"] as const;
type SearchKind = (typeof SEARCH_KINDS)[number];
const NO_REGISTRATIONS: readonly WebhookRegistration[] = [];

/**
 * Sends push notifications (E12). Each webhook receives the events of its task in order, at least once. The task log
 * contains the events to send, and the store has one row per webhook: its position in the log, the time and the number
 * of failed attempts, and the node that has claimed the webhook.
 *
 * A commit claims the webhooks of its task, and a search claims the webhooks whose retry is due, or that other processes
 * have left. Each claimed webhook has a `WebhookDelivery`, which waits for a slot and sends the events. The outbox
 * releases a webhook after the last event, after a failure, and after about a second without events. No claim runs
 * during a save, so that a claim never reads a position that is about to change.
 */
export class Outbox implements PushOutbox {
  readonly limits: PushLimits;
  readonly #store: TaskStore & { readonly pushStore: PushStore };
  readonly #pushStore: PushStore;
  readonly #deliver: NotificationSender;
  readonly #observer: Observer;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #retryPolicy: RetryPolicy;
  readonly #slots: DeliverySlots;
  readonly #maxTasks: number;
  readonly #tasks = new Map<string, ClaimedTaskWebhooks>();
  /** Places of the claimed tasks, by owner. */
  readonly #places: Quota;
  readonly #claims = new Map<string, RunningClaim>();
  /** Reads of the store that claim webhooks. */
  readonly #runningReads = new Set<Promise<unknown>>();
  /** Deliveries whose progress or release is not saved. */
  #unsaved = new Set<WebhookDelivery>();
  /** Claimed webhooks without a place, which are released unchanged. */
  #refused: WebhookProgress[] = [];
  #isSaving = false;
  #lastSave: Promise<void> = Promise.resolve();
  #isSaveRequested = false;
  #lastSearch: Promise<void> = Promise.resolve();
  #nextSearch: { kind: SearchKind; readonly end: Promise<void> } | undefined;
  /**
   * Owners with a webhook that has undelivered events and no place. Contains `undefined` if a search has not read all
   * webhooks, because no place was free.
   */
  readonly #overflowOwners = new Set<string | undefined>();
  #pollCount = 0;
  #retryCount = 0;
  #cancelSaveTimer: (() => void) | undefined;
  #cancelPoll: () => void = () => {};
  #cancelSearchRetry: (() => void) | undefined;
  /** True from the first failure of a statement until a statement succeeds, so that an outage is reported once. */
  #hasStoreFailed = false;
  #retryTimer: { readonly at: number; readonly cancel: () => void } | undefined;
  /** Counts queued and running deliveries, and running claims. */
  readonly #waitGroup = new RunningOperationCounter();
  readonly #foundListeners: ((scope: TaskScope, taskId: string) => void)[] = [];
  readonly #stopController = new AbortController();
  /** Difference between the time of the outbox and the monotonic clock. */
  readonly #timeOffset: number;
  #deliveredCount = 0;
  #isClosing = false;

  constructor(options: OutboxOptions) {
    const { store, clock = systemClock, maxTasks = 10_000 } = options;
    this.limits = resolvePushLimits(options.limits);
    this.#store = store;
    this.#pushStore = store.pushStore;
    this.#deliver = options.deliver;
    this.#observer = withSafeListeners(options.observer ?? {});
    this.#clock = clock;
    this.#random = options.random ?? Math.random;
    this.#retryPolicy = resolveRetryPolicy(options.retry);
    this.#slots = new DeliverySlots(this.limits, clock, () => this.#startReadyDeliveries());
    this.#maxTasks = maxTasks;
    this.#places = new Quota({ capacity: maxTasks });
    this.#timeOffset = clock.now() - clock.monotonic();
  }

  /** Resumes the unfinished deliveries of earlier processes in the background, and polls for those of other nodes. */
  open(): void {
    this.#schedulePoll();
    void this.#search("restart");
  }

  /** Number of notifications that receivers have accepted. */
  get deliveredCount(): number {
    return this.#deliveredCount;
  }

  /** Numbers of the webhooks that have not received all events. */
  get pendingDeliveryCounts(): PendingDeliveryCounts {
    const counts = { ready: 0, sending: 0, retry: this.#retryCount };
    for (const { deliveries } of this.#tasks.values())
      for (const { state } of deliveries.values())
        if (state === "ready" || state === "sending") counts[state]++;
    return counts;
  }

  /** Starts the due deliveries. Resolves once they are in memory. */
  searchAllWebhooks(): Promise<void> {
    return this.#search("all");
  }

  /** Resolves once no delivery is running. Deliveries that wait for a retry are not running. */
  async waitUntilIdle(): Promise<void> {
    await this.#waitGroup.waitForZero();
    await this.#save();
  }

  /**
   * Calls `listener` when this node claims a webhook of a task. Another node may have registered the webhook, so the
   * commits of the task must notify the outbox from now on.
   */
  onWebhookFound(listener: (scope: TaskScope, taskId: string) => void): void {
    this.#foundListeners.push(listener);
  }

  /**
   * Reports a commit of a task and the webhooks that the commit registered or replaced. Never throws. The cost of a call
   * depends neither on the size of the task nor on the webhooks of other tasks.
   */
  notifyCommit(
    task: TaskWithPossibleWebhooks,
    registered: readonly WebhookRegistration[] = NO_REGISTRATIONS,
  ): void {
    const claimed = this.#tasks.get(getTaskKey(task.scope, task.taskId));
    // Another node can have released a webhook of the task because of the turn that this commit ends.
    const endsTurn = this.#isShared && !task.isRunningInStore;
    if (!claimed || claimed.mayHaveUnclaimed || registered.length > 0 || endsTurn)
      this.#claim(task.scope, task.taskId, task, true);
    if (!claimed) return;
    claimed.wasIdleAtSave = false;
    for (const delivery of claimed.deliveries.values()) {
      const isReplaced = registered.some(({ config }) => config.id === delivery.webhook.config.id);
      if (isReplaced) this.#endOutdatedDelivery(delivery);
      else this.#wake(delivery);
    }
  }

  /** Reports that a webhook of the task was registered, replaced, or removed. */
  notifyWebhookChange(scope: TaskScope, taskId: string, id: string): void {
    for (const onFound of this.#foundListeners) onFound(scope, taskId);
    const claimed = this.#tasks.get(getTaskKey(scope, taskId));
    const deliveries = [...(claimed?.deliveries.values() ?? [])];
    const delivery = deliveries.find(({ webhook }) => webhook.config.id === id);
    // The release of the outdated delivery is followed by a claim.
    if (delivery) this.#endOutdatedDelivery(delivery);
    else this.#claim(scope, taskId);
  }

  /**
   * Closes the outbox. Running deliveries have `graceMs` milliseconds to finish. The next process sends the
   * undelivered events.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#cancelPoll();
    this.#cancelSearchRetry?.();
    this.#retryTimer?.cancel();
    const idle = this.#waitGroup.waitForZero();
    if (idle) {
      const cancel = this.#clock.schedule(graceMs, () => {
        this.#stopController.abort();
        this.#slots.cancelDelays();
        this.#startReadyDeliveries();
      });
      await idle;
      cancel();
    }
    this.#stopController.abort();
    await this.#lastSearch;
    for (const claimed of this.#tasks.values()) this.#releaseIdleTask(claimed);
    await this.#save();
    this.#cancelSaveTimer?.();
  }

  /**
   * Time in milliseconds since 1970. A change of the wall clock while the process runs has no effect, so that it neither
   * ends nor delays retries.
   */
  #now(): number {
    return Math.floor(this.#timeOffset + this.#clock.monotonic());
  }

  /** Reports each outage of the store once. */
  #reportStoreFailure(error: unknown, taskId?: string): void {
    if (this.#hasStoreFailed) return;
    this.#hasStoreFailed = true;
    this.#observer.onError?.({ where: "push", error, ...(taskId === undefined ? {} : { taskId }) });
  }

  // Claims

  /** Claims the webhooks of a task that have undelivered events. The task has one claim at a time. */
  #claim(scope: TaskScope, taskId: string, task?: TaskWithPossibleWebhooks, isAfterCommit = false): void {
    if (this.#isClosing) return;
    const key = getTaskKey(scope, taskId);
    const running = this.#claims.get(key);
    if (running) {
      running.mustRepeat = true;
      running.isAfterCommit = isAfterCommit;
      running.task ??= task;
      return;
    }
    const owner = getWebhookOwner(scope);
    if (!this.#tasks.has(key) && this.#places.findRefusal(owner, 1)) {
      this.#overflowOwners.add(owner);
      return;
    }
    const claim = { task, isAfterCommit, mustRepeat: false };
    this.#claims.set(key, claim);
    this.#waitGroup.increment();
    void this.#runClaim(scope, taskId, claim).finally(() => this.#waitGroup.decrement());
  }

  async #runClaim(scope: TaskScope, taskId: string, claim: RunningClaim): Promise<void> {
    const key = getTaskKey(scope, taskId);
    try {
      const { webhooks, mayNeedMore } = await this.#read(() => {
        claim.mustRepeat = false;
        return this.#pushStore.claim(scope, taskId, this.#now());
      });
      this.#hasStoreFailed = false;
      this.#claims.delete(key);
      this.#startDeliveries(webhooks);
      const { task, isAfterCommit, mustRepeat } = claim;
      const claimed = this.#tasks.get(key);
      if (claimed) claimed.mayHaveUnclaimed = mustRepeat || !isAfterCommit;
      if (mustRepeat) this.#claim(scope, taskId, task, isAfterCommit);
      else if (task && !mayNeedMore && !claimed) task.mayHaveWebhooks = false;
    } catch (error) {
      this.#claims.delete(key);
      this.#reportStoreFailure(error, taskId);
      if (!this.#isClosing)
        this.#clock.schedule(STORE_RETRY_MS, () =>
          this.#claim(scope, taskId, claim.task, claim.isAfterCommit),
        );
    }
  }

  /** Runs a claim while no save runs. A save waits for the running claims. */
  async #read<T>(read: () => Promise<T>): Promise<T> {
    while (this.#isSaving) await this.#lastSave;
    const result = read();
    const end: Promise<unknown> = result.then(
      () => this.#runningReads.delete(end),
      () => this.#runningReads.delete(end),
    );
    this.#runningReads.add(end);
    return await result;
  }

  /** Searches the store for due webhooks. A search that waits for an earlier one serves all requests until its start. */
  #search(kind: SearchKind): Promise<void> {
    if (this.#nextSearch) {
      if (SEARCH_KINDS.indexOf(kind) > SEARCH_KINDS.indexOf(this.#nextSearch.kind))
        this.#nextSearch.kind = kind;
      return this.#nextSearch.end;
    }
    this.#lastSearch = this.#lastSearch.then(() => {
      const wanted = this.#nextSearch?.kind ?? kind;
      this.#nextSearch = undefined;
      return this.#runSearch(wanted);
    });
    this.#nextSearch = { kind, end: this.#lastSearch };
    return this.#lastSearch;
  }

  async #runSearch(kind: SearchKind): Promise<void> {
    if (kind !== "due") this.#overflowOwners.clear();
    try {
      for (let after: number | undefined = 0; after !== undefined;) {
        if (this.#isClosing) return;
        if (this.#tasks.size >= this.#maxTasks) {
          this.#overflowOwners.add(undefined);
          break;
        }
        after = await this.#claimDuePage(kind, after);
      }
      const { count, nextAt } = await this.#pushStore.findRetries(this.#now());
      this.#retryCount = count;
      if (nextAt !== undefined) this.#scheduleRetrySearch(nextAt);
      this.#hasStoreFailed = false;
    } catch (error) {
      this.#reportStoreFailure(error);
      if (!this.#isClosing)
        this.#cancelSearchRetry ??= this.#clock.schedule(STORE_RETRY_MS, () => {
          this.#cancelSearchRetry = undefined;
          void this.#search("all");
        });
    }
  }

  /** Claims a page of webhooks, and resolves with the key after which the next page begins. */
  async #claimDuePage(kind: SearchKind, after: number): Promise<number | undefined> {
    const search = kind === "due" ? "due" : "all";
    // No earlier process of a store with one process waits for a retry.
    const now = kind === "restart" && !this.#isShared ? Number.MAX_SAFE_INTEGER : this.#now();
    const query = { search, after, limit: SEARCH_PAGE_SIZE, now } as const;
    const due = await this.#read(() => this.#pushStore.claimDue(query));
    this.#startDeliveries(due);
    // A page can be short, because another node claims some of its webhooks at the same time.
    return due.at(-1)?.key;
  }

  #schedulePoll(): void {
    const { pollIntervalMs } = this.#pushStore;
    if (pollIntervalMs === undefined || this.#isClosing) return;
    this.#cancelPoll = this.#clock.schedule(pollIntervalMs, () => {
      const search = ++this.#pollCount % POLLS_PER_SEARCH_OF_ALL === 0 ? "all" : "due";
      void this.#search(search).then(() => this.#schedulePoll());
    });
  }

  #scheduleRetrySearch(at: number): void {
    if (this.#isClosing || (this.#retryTimer && this.#retryTimer.at <= at)) return;
    this.#retryTimer?.cancel();
    const cancel = this.#clock.schedule(Math.max(MIN_SEARCH_DELAY_MS, at - this.#now()), () => {
      this.#retryTimer = undefined;
      void this.#search("due");
    });
    this.#retryTimer = { at, cancel };
  }

  // Deliveries

  #startDeliveries(webhooks: readonly Webhook[]): void {
    for (const webhook of webhooks) {
      const claimed = this.#reservePlace(webhook);
      if (!claimed) {
        this.#overflowOwners.add(getWebhookOwner(webhook.scope));
        this.#refuse(webhook);
        continue;
      }
      claimed.wasIdleAtSave = false;
      const known = claimed.deliveries.get(webhook.key);
      if (known) {
        if (isSameRegistration(known.webhook, webhook)) this.#wake(known);
        else this.#endOutdatedDelivery(known);
        continue;
      }
      const delivery = new WebhookDelivery(webhook);
      claimed.deliveries.set(webhook.key, delivery);
      if (this.#isClosing) continue;
      this.#enqueue(delivery);
      for (const listener of this.#foundListeners) listener(webhook.scope, webhook.taskId);
    }
  }

  #reservePlace({ scope, taskId }: Webhook): ClaimedTaskWebhooks | undefined {
    const key = getTaskKey(scope, taskId);
    const known = this.#tasks.get(key);
    if (known) return known;
    if (this.#places.reserve(getWebhookOwner(scope), 1)) return undefined;
    const deliveries = new Map<number, WebhookDelivery>();
    const claimed = { scope, taskId, deliveries, mayHaveUnclaimed: true, wasIdleAtSave: false };
    this.#tasks.set(key, claimed);
    return claimed;
  }

  /**
   * Releases a webhook that has no place. Without other nodes, the claim is only in the memory of this process. A retry
   * remains a retry that is due, which every node finds at its next poll.
   */
  #refuse(webhook: Webhook): void {
    if (!this.#isShared) return;
    const retry = webhook.failedAttempts === undefined ? {} : { dueAt: this.#now() };
    this.#refused.push({ ...webhook, ...retry, isFinished: false, isReleased: true });
    this.#requestSave();
  }

  /** True if several nodes share the store. */
  get #isShared(): boolean {
    return this.#pushStore.pollIntervalMs !== undefined;
  }

  #wake(delivery: WebhookDelivery): void {
    if (delivery.state === "idle" && !this.#isClosing) this.#enqueue(delivery);
    else delivery.hasNewEvents = true;
  }

  /** Ends the delivery of a webhook that was replaced or removed. */
  #endOutdatedDelivery(delivery: WebhookDelivery): void {
    delivery.isOutdated = true;
    if (delivery.state === "idle") this.#endDelivery(delivery);
  }

  #enqueue(delivery: WebhookDelivery): void {
    delivery.state = "ready";
    this.#waitGroup.increment();
    this.#slots.enqueue(delivery);
    this.#startReadyDeliveries();
  }

  #startReadyDeliveries(): void {
    for (let next = this.#slots.takeNext(); next; next = this.#slots.takeNext())
      void this.#runDeliveryStep(next);
  }

  async #runDeliveryStep(delivery: WebhookDelivery): Promise<void> {
    delivery.state = "sending";
    const outcome = await this.#deliverLogPage(delivery);
    this.#slots.release(delivery);
    this.#applyOutcome(delivery, outcome);
    this.#startReadyDeliveries();
    this.#waitGroup.decrement();
  }

  async #deliverLogPage(delivery: WebhookDelivery): Promise<DeliveryStepOutcome> {
    const { signal } = this.#stopController;
    if (delivery.isOutdated || signal.aborted) return "gone";
    try {
      return await delivery.deliverLogPage({
        store: this.#store,
        deliver: (notification) => {
          this.#slots.countDelivery(delivery);
          return this.#deliver(notification, signal);
        },
        signal,
        onDelivered: () => this.#recordDelivered(delivery),
        maySendMore: () => this.#slots.maySendMore(delivery),
        isHeld: () => this.#isHeld(delivery),
      });
    } catch (error) {
      this.#reportStoreFailure(error, delivery.webhook.taskId);
      return { ok: false, reason: "the task store is not available" };
    }
  }

  /** Returns whether this node still holds the webhook. */
  #isHeld(delivery: WebhookDelivery): boolean | Promise<boolean> {
    const now = this.#clock.monotonic();
    if (!this.#pushStore.isHeld || now - delivery.claimConfirmedAt < CLAIM_CONFIRMATION_MS) return true;
    return this.#pushStore.isHeld(delivery.webhook.key).then((isHeld) => {
      if (isHeld) delivery.claimConfirmedAt = now;
      return isHeld;
    });
  }

  #applyOutcome(delivery: WebhookDelivery, outcome: DeliveryStepOutcome): void {
    if (outcome === "finished") delivery.isFinished = true;
    if (delivery.isOutdated) this.#endDelivery(delivery);
    else if (outcome === "more" || (outcome === "caught up" && delivery.hasNewEvents))
      this.#enqueue(delivery);
    else if (outcome === "caught up" || outcome === "gone") this.#markIdle(delivery);
    else if (outcome === "finished") {
      delivery.state = "ended";
      this.#markUnsaved(delivery);
    } else if (outcome === "lost") this.#forgetLostDelivery(delivery);
    else if (this.#stopController.signal.aborted) this.#markIdle(delivery);
    else this.#recordFailure(delivery, outcome);
  }

  #markIdle(delivery: WebhookDelivery): void {
    delivery.state = "idle";
    this.#scheduleSave();
  }

  #recordDelivered(delivery: WebhookDelivery): void {
    this.#deliveredCount++;
    delivery.recordSuccess();
    this.#slots.recordResponse(delivery.host, true);
    this.#markUnsaved(delivery);
    if (delivery.isOutdated) return;
    const { scope, taskId, config } = delivery.webhook;
    this.#observer.onPush?.({
      scope,
      taskId,
      configId: config.id,
      seq: delivery.deliveredSeq,
      outcome: "delivered",
    });
  }

  #recordFailure(delivery: WebhookDelivery, { reason, retryAfterMs, isPermanent }: DeliveryFailure): void {
    const now = this.#now();
    const isFirstFailure = delivery.failingSince === undefined;
    delivery.failingSince ??= now;
    delivery.failedAttempts++;
    this.#slots.recordResponse(delivery.host, false);
    const { scope, taskId, config } = delivery.webhook;
    const report = { scope, taskId, configId: config.id, seq: delivery.deliveredSeq + 1, reason };
    if (isPermanent || now - delivery.failingSince >= this.#retryPolicy.giveUpAfterMs) {
      delivery.deadLetter = { at: this.#clock.now(), reason };
      this.#observer.onPush?.({ ...report, outcome: "dead" });
    } else {
      const { failedAttempts } = delivery;
      const delayMs = computeRetryDelay(failedAttempts, this.#random(), this.#retryPolicy, retryAfterMs);
      delivery.dueAt = Math.ceil(now + delayMs);
      this.#observer.onPush?.({ ...report, outcome: "failed", isFirstFailure, retryInMs: delayMs });
    }
    this.#endDelivery(delivery);
  }

  /** Ends a delivery, and saves and releases its webhook at once. */
  #endDelivery(delivery: WebhookDelivery): void {
    delivery.state = "ended";
    this.#unsaved.add(delivery);
    this.#requestSave();
  }

  /** Removes a delivery whose webhook another node has claimed or replaced. */
  #forgetLostDelivery(delivery: WebhookDelivery): void {
    const { scope, taskId } = delivery.webhook;
    this.#unsaved.delete(delivery);
    this.#removeDelivery(delivery);
    this.#claim(scope, taskId);
  }

  #removeDelivery({ webhook }: WebhookDelivery): void {
    const { key, scope, taskId } = webhook;
    const taskKey = getTaskKey(scope, taskId);
    const claimed = this.#tasks.get(taskKey);
    if (!claimed) return;
    claimed.deliveries.delete(key);
    if (claimed.deliveries.size > 0) return;
    this.#tasks.delete(taskKey);
    const owner = getWebhookOwner(scope);
    this.#places.release(owner, 1);
    if (this.#overflowOwners.size === 0 || this.#isClosing) return;
    // A single owner fills half of the places, and must leave some of them before the store is read again. An owner that
    // has left all of its places does not wait for the places of others.
    const hasLeft = this.#overflowOwners.has(owner) && this.#places.getReservedBy(owner) === 0;
    if (hasLeft || this.#tasks.size < this.#maxTasks / 4) void this.#search("all");
  }

  // Progress

  #markUnsaved(delivery: WebhookDelivery): void {
    this.#unsaved.add(delivery);
    this.#scheduleSave();
  }

  #scheduleSave(): void {
    this.#cancelSaveTimer ??= this.#clock.schedule(SAVE_INTERVAL_MS, () => {
      this.#cancelSaveTimer = undefined;
      for (const claimed of this.#tasks.values()) this.#releaseTaskAfterSecondIdleSave(claimed);
      void this.#save();
    });
  }

  /** Requests a save in this turn of the event loop. */
  #requestSave(): void {
    if (this.#isSaveRequested) return;
    this.#isSaveRequested = true;
    queueMicrotask(() => {
      this.#isSaveRequested = false;
      void this.#save();
    });
  }

  /**
   * Releases a task whose webhooks have been idle since the last save. All webhooks of a task are released together, so
   * that most commits of a claimed task need no claim.
   */
  #releaseTaskAfterSecondIdleSave(claimed: ClaimedTaskWebhooks): void {
    if (!isIdle(claimed)) return;
    if (claimed.wasIdleAtSave || this.#overflowOwners.size > 0) this.#releaseIdleTask(claimed);
    else {
      claimed.wasIdleAtSave = true;
      this.#scheduleSave();
    }
  }

  #releaseIdleTask({ deliveries }: ClaimedTaskWebhooks): void {
    for (const delivery of deliveries.values()) {
      if (delivery.state !== "idle" && delivery.state !== "ended") continue;
      delivery.state = "ended";
      if (this.#isShared || delivery.hasUnsavedProgress) this.#unsaved.add(delivery);
      else if (!this.#unsaved.has(delivery)) this.#removeDelivery(delivery);
    }
  }

  /** Saves the progress of all deliveries, and releases the ended ones. A later save repeats a rejected save. */
  #save(): Promise<void> {
    return (this.#lastSave = this.#lastSave.then(() => this.#saveUnsaved()));
  }

  async #saveUnsaved(): Promise<void> {
    if (this.#unsaved.size === 0 && this.#refused.length === 0) return;
    this.#isSaving = true;
    await Promise.all(this.#runningReads);
    const deliveries = [...this.#unsaved];
    const refused = this.#refused;
    this.#unsaved = new Set();
    this.#refused = [];
    const progress = deliveries.map((delivery) => delivery.createProgress());
    try {
      await this.#pushStore.saveProgress([...progress, ...refused]);
    } catch (error) {
      this.#isSaving = false;
      for (const delivery of deliveries) this.#unsaved.add(delivery);
      this.#refused.push(...refused);
      this.#reportStoreFailure(error);
      this.#scheduleSave();
      return;
    }
    this.#isSaving = this.#hasStoreFailed = false;
    for (const [at, delivery] of deliveries.entries())
      this.#applySaved(delivery, progress[at] as WebhookProgress);
  }

  #applySaved(delivery: WebhookDelivery, saved: WebhookProgress): void {
    delivery.savedSeq = saved.deliveredSeq;
    if (saved.isReleased !== true) return;
    const { scope, taskId } = delivery.webhook;
    // A replacement during the save must not keep the result of the replaced webhook.
    const hasFailed = saved.dueAt !== undefined || saved.deadLetter !== undefined;
    if (delivery.isOutdated && hasFailed) {
      this.#endDelivery(delivery);
      return;
    }
    this.#removeDelivery(delivery);
    if (saved.dueAt !== undefined) {
      this.#retryCount++;
      this.#scheduleRetrySearch(saved.dueAt);
    }
    // Another node may have committed an event while this node held the webhook.
    if (delivery.isOutdated || (!hasFailed && !saved.isFinished && (delivery.hasNewEvents || this.#isShared)))
      this.#claim(scope, taskId);
  }
}

/** Returns false if the webhook was registered again, also on another node. */
function isSameRegistration(known: Webhook, stored: Webhook): boolean {
  return known.version === stored.version && JSON.stringify(known.config) === JSON.stringify(stored.config);
}

function isIdle({ deliveries }: ClaimedTaskWebhooks): boolean {
  return [...deliveries.values()].every(({ state }) => state === "idle");
}
