import { FairShareLedger } from "../../data-structures/index.ts";
import { getTaskKey, type TaskScope } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { WebhookDelivery } from "./webhook-delivery.ts";
import type { DeliveryProgressRecorder } from "./delivery-progress-recorder.ts";
import { DueWebhookLoader } from "./due-webhook-loader.ts";
import type { PushStore, Webhook, WebhookRegistration } from "./push-store.ts";
import type { RunningOperationCounter } from "./running-operation-counter.ts";
import { createWebhookSource, type WebhookSource } from "./webhook-source.ts";
import { type TaskWithPossibleWebhooks, WebhookLookups } from "./webhook-lookups.ts";
import { getWebhookOwner } from "./webhook-owner.ts";

/** The webhooks of one task that may still need deliveries. */
interface TaskWebhookDeliveries {
  readonly scope: TaskScope;
  readonly taskId: string;
  deliveries: WebhookDelivery[];
  /** True if all deliveries of the task have been idle since the last call to `evictIdle`. */
  wasIdleAtSweep: boolean;
}

/**
 * Numbers of webhooks that have not received all events. `ready`: the delivery waits for a slot. `sending`: the delivery
 * is in progress. `retry`: the delivery has failed, and waits for its next attempt.
 */
export interface PendingDeliveryCounts {
  readonly ready: number;
  readonly sending: number;
  readonly retry: number;
}

const NO_REGISTRATIONS: readonly WebhookRegistration[] = [];

interface ActiveWebhooksDependencies {
  readonly store: PushStore;
  readonly clock: Clock;
  readonly progressRecorder: DeliveryProgressRecorder;
  readonly waitGroup: RunningOperationCounter;
  /**
   * Maximum number of tasks whose webhooks are kept in memory. The tasks of one owner use at most as many places
   * as remain free. The webhooks of further tasks stay in the store until other tasks are evicted.
   */
  readonly maxTasks: number;
  /** Called when a delivery may have events to send to its webhook. */
  readonly onReady: (delivery: WebhookDelivery) => void;
  /** Called when the store has a webhook for a task whose commits may not notify the outbox. */
  readonly onFound: (scope: TaskScope, taskId: string) => void;
  readonly onError: (error: unknown, taskId?: string) => void;
}

/**
 * Holds the webhooks that currently need deliveries. The number of tasks in memory is limited. A reported
 * commit starts a lookup of the task's webhooks in the store. Idle tasks are evicted, and tasks beyond the
 * limit are loaded once there is capacity.
 */
export class ActiveWebhooks {
  readonly #context: ActiveWebhooksDependencies;
  readonly #taskDeliveries = new Map<string, TaskWebhookDeliveries>();
  /** Places of the tasks in memory, by owner. */
  readonly #places: FairShareLedger;
  readonly #lookups: WebhookLookups;
  /** Deliveries of tasks that have only idle webhooks. */
  readonly #idleTaskDeliveries = new Set<TaskWebhookDeliveries>();
  readonly #source: WebhookSource;
  readonly #dueLoader: DueWebhookLoader;
  /** Resolves when all requested releases of leases have ended. */
  #released: Promise<void> = Promise.resolve();
  #isClosing = false;

  constructor(context: ActiveWebhooksDependencies) {
    this.#context = context;
    this.#places = new FairShareLedger({ capacity: context.maxTasks });
    this.#source = createWebhookSource(context.store);
    this.#lookups = new WebhookLookups({
      source: this.#source,
      clock: context.clock,
      progressRecorder: context.progressRecorder,
      waitGroup: context.waitGroup,
      awaitReleases: () => this.#released,
      onResult: (scope, taskId, webhooks) => this.#replaceTaskWebhooks(scope, taskId, webhooks),
      onEnd: () => this.#loadDueWebhooksIfCapacity(),
      onError: context.onError,
    });
    this.#dueLoader = new DueWebhookLoader({
      source: this.#source,
      clock: context.clock,
      saveProgress: () => context.progressRecorder.flush(),
      isFull: () => this.#taskDeliveries.size + this.#lookups.size >= context.maxTasks,
      onDue: (webhook) => this.#startLookupOfDueWebhook(webhook),
      onRefused: (keys) => this.#releaseLeases(keys),
      onError: context.onError,
    });
  }

  /**
   * Reports a commit of a task and the webhooks that the commit registered or replaced. `notifyCommit` never
   * throws. The cost of a call does not depend on the size of the task.
   */
  notifyCommit(
    task: TaskWithPossibleWebhooks,
    registered: readonly WebhookRegistration[] = NO_REGISTRATIONS,
  ): void {
    const { scope, taskId } = task;
    const ids = registered.map(({ config }) => config.id);
    const taskDeliveries = this.#taskDeliveries.get(getTaskKey(scope, taskId));
    const isPostponed = ids.length === 0 && this.#lookups.postponeRepetition(getTaskKey(scope, taskId));
    if (ids.length > 0 || (!taskDeliveries && !isPostponed)) this.#lookups.start(scope, taskId, task, ids);
    if (!taskDeliveries) return;
    for (const delivery of taskDeliveries.deliveries) {
      // A webhook that may have a new configuration waits for the result of the lookup.
      if (delivery.state === "idle" && !ids.includes(delivery.webhook.config.id))
        this.#context.onReady(delivery);
      else delivery.hasNewEvents = true;
    }
    this.#markTaskActive(taskDeliveries);
  }

  /**
   * Reports that a webhook of the task was registered, replaced, or removed. `key` is the new key of the
   * webhook, or `undefined` if the webhook was removed.
   */
  notifyWebhookChange(scope: TaskScope, taskId: string, id: string, key?: number): void {
    const taskDeliveries = this.#taskDeliveries.get(getTaskKey(scope, taskId));
    const delivery = taskDeliveries?.deliveries.find(({ webhook }) => webhook.config.id === id);
    if (delivery) this.#markDeliveryObsolete(delivery);
    if (key !== undefined) this.#context.progressRecorder.clearReregisteredWebhookFailure(key);
    this.#lookups.start(scope, taskId, undefined);
  }

  /** Marks a delivery as idle if its webhook has received all events. */
  markIdle(delivery: WebhookDelivery): void {
    const taskDeliveries = this.#findTaskDeliveries(delivery);
    if (!taskDeliveries?.deliveries.every(({ state }) => state === "idle")) return;
    taskDeliveries.wasIdleAtSweep = false;
    this.#idleTaskDeliveries.add(taskDeliveries);
    this.#context.progressRecorder.scheduleFlush();
  }

  /** Removes the delivery of a webhook that needs no more events. */
  remove(delivery: WebhookDelivery): void {
    const taskDeliveries = this.#findTaskDeliveries(delivery);
    if (!taskDeliveries) return;
    taskDeliveries.deliveries = taskDeliveries.deliveries.filter((other) => other !== delivery);
    if (taskDeliveries.deliveries.length === 0) this.#evictTask(taskDeliveries);
    else if (taskDeliveries.deliveries.every(({ state }) => state === "idle"))
      this.#idleTaskDeliveries.add(taskDeliveries);
  }

  #findTaskDeliveries({ webhook }: WebhookDelivery): TaskWebhookDeliveries | undefined {
    return this.#taskDeliveries.get(getTaskKey(webhook.scope, webhook.taskId));
  }

  /** Removes a delivery whose webhook another node has claimed, or that was registered again. */
  removeLost(delivery: WebhookDelivery): void {
    const { scope, taskId } = delivery.webhook;
    this.#markDeliveryObsolete(delivery);
    this.remove(delivery);
    this.#lookups.start(scope, taskId, undefined);
  }

  /** Loads the webhooks that need deliveries, and then those that other nodes leave. */
  startLoading(): void {
    this.#dueLoader.start();
  }

  /** Loads the webhooks that need deliveries. */
  loadDueWebhooks(): Promise<void> {
    return this.#dueLoader.load("all");
  }

  /** Stops loading webhooks from the store while the outbox closes. */
  stopLoadingFromStore(): void {
    this.#isClosing = true;
    this.#lookups.stop();
    this.#dueLoader.stop();
  }

  /** Releases the leases of all webhooks, so that other nodes deliver their events. */
  async releaseAllLeases(): Promise<void> {
    for (const { deliveries } of this.#taskDeliveries.values())
      this.#releaseLeases(deliveries.map(({ webhook }) => webhook.key));
    await this.#released;
  }

  /** Releases leases once the progress of their webhooks is saved. */
  #releaseLeases(keys: readonly number[]): void {
    const { leases } = this.#source;
    if (!leases || keys.length === 0) return;
    const { progressRecorder, onError } = this.#context;
    this.#released = this.#released
      .then(() => progressRecorder.flush())
      .then(() => leases.release(keys))
      .catch(onError);
  }

  /** Counts the webhooks in memory that have not received all events, by the state of their delivery. */
  countPendingDeliveries(): PendingDeliveryCounts {
    const counts = { ready: 0, working: 0, waiting: 0 };
    for (const { deliveries } of this.#taskDeliveries.values())
      for (const { state } of deliveries) if (state !== "idle") counts[state]++;
    return { ready: counts.ready, sending: counts.working, retry: counts.waiting };
  }

  /** Cancels the scheduled retries of all deliveries. */
  cancelRetries(): void {
    for (const { deliveries } of this.#taskDeliveries.values())
      for (const delivery of deliveries) delivery.cancelRetry?.();
  }

  /** Replaces the deliveries of a task. `webhooks` are the webhooks that need deliveries. */
  #replaceTaskWebhooks(scope: TaskScope, taskId: string, webhooks: Webhook[]): void {
    if (webhooks.length === 0) {
      this.#deactivateTaskWebhooks(getTaskKey(scope, taskId));
      return;
    }
    this.#activateTaskWebhooks(scope, taskId, webhooks);
    this.#context.onFound(scope, taskId);
  }

  #activateTaskWebhooks(scope: TaskScope, taskId: string, webhooks: Webhook[]): void {
    const name = getTaskKey(scope, taskId);
    const known = this.#taskDeliveries.get(name);
    if (!known && !this.#reservePlace(getWebhookOwner(scope))) {
      this.#dueLoader.hasOverflow = true;
      this.#releaseLeases(webhooks.map(({ key }) => key));
      return;
    }
    const taskDeliveries = known ?? { scope, taskId, deliveries: [], wasIdleAtSweep: false };
    this.#taskDeliveries.set(name, taskDeliveries);
    const knownDeliveries = new Map(
      taskDeliveries.deliveries.map((delivery) => [delivery.webhook.key, delivery]),
    );
    const keys = new Set(webhooks.map(({ key }) => key));
    for (const [key, delivery] of knownDeliveries) if (!keys.has(key)) this.#markDeliveryObsolete(delivery);
    taskDeliveries.deliveries = webhooks.map((webhook) => {
      const delivery = knownDeliveries.get(webhook.key);
      if (delivery && !delivery.isObsolete && delivery.hasUnchangedRegistration(webhook)) return delivery;
      if (delivery) this.#markDeliveryObsolete(delivery);
      return new WebhookDelivery(webhook, delivery?.deliveredSeq);
    });
    for (const delivery of taskDeliveries.deliveries)
      if (delivery.state === "idle") this.#context.onReady(delivery);
    this.#markTaskActive(taskDeliveries);
  }

  /**
   * Reserves a place in memory for a task of the owner. If no place is free, a task without running deliveries is
   * evicted. If the owner's share is used up, only a task of the same owner is evicted.
   */
  #reservePlace(owner: string): boolean {
    for (;;) {
      const refusal = this.#places.reserve(owner, 1);
      if (refusal === undefined) return true;
      if (!this.#evictIdleOrWaitingTask(refusal === "share" ? owner : undefined)) return false;
    }
  }

  #releasePlace(taskDeliveries: TaskWebhookDeliveries): void {
    if (this.#taskDeliveries.delete(getTaskKey(taskDeliveries.scope, taskDeliveries.taskId)))
      this.#places.release(getWebhookOwner(taskDeliveries.scope), 1);
  }

  #deactivateTaskWebhooks(name: string): void {
    const taskDeliveries = this.#taskDeliveries.get(name);
    if (!taskDeliveries) return;
    this.#releasePlace(taskDeliveries);
    this.#idleTaskDeliveries.delete(taskDeliveries);
    for (const delivery of taskDeliveries.deliveries) this.#markDeliveryObsolete(delivery);
  }

  /** Cancels a delivery, so that later results of the delivery are ignored. */
  #markDeliveryObsolete(delivery: WebhookDelivery): void {
    delivery.isObsolete = true;
    delivery.cancelRetry?.();
  }

  #markTaskActive(taskDeliveries: TaskWebhookDeliveries): void {
    taskDeliveries.wasIdleAtSweep = false;
    this.#idleTaskDeliveries.delete(taskDeliveries);
  }

  /**
   * Evicts tasks whose deliveries have been idle for a while. When an evicted task has a new commit, the
   * webhooks of the task are loaded from the store again.
   */
  evictIdle(): void {
    for (const taskDeliveries of this.#idleTaskDeliveries) {
      if (taskDeliveries.wasIdleAtSweep) this.#evictTask(taskDeliveries);
      else taskDeliveries.wasIdleAtSweep = true;
    }
    if (this.#idleTaskDeliveries.size > 0 && !this.#isClosing) this.#context.progressRecorder.scheduleFlush();
  }

  #evictTask(taskDeliveries: TaskWebhookDeliveries): void {
    this.#idleTaskDeliveries.delete(taskDeliveries);
    this.#releasePlace(taskDeliveries);
    this.#releaseLeases(taskDeliveries.deliveries.map(({ webhook }) => webhook.key));
    this.#loadDueWebhooksIfCapacity();
  }

  /**
   * Evicts a task whose webhooks are all idle or waiting for a retry. With an owner, only a task of the owner is
   * evicted. Returns false if no task can be evicted.
   */
  #evictIdleOrWaitingTask(owner: string | undefined): boolean {
    for (const taskDeliveries of this.#taskDeliveries.values()) {
      if (owner !== undefined && getWebhookOwner(taskDeliveries.scope) !== owner) continue;
      if (!taskDeliveries.deliveries.every(({ state }) => state === "waiting" || state === "idle")) continue;
      for (const delivery of taskDeliveries.deliveries) delivery.cancelRetry?.();
      this.#dueLoader.hasOverflow = true;
      this.#evictTask(taskDeliveries);
      return true;
    }
    return false;
  }

  /** Returns false if the owner of the webhook uses its entire share of the places. */
  #startLookupOfDueWebhook({ scope, taskId, key }: Webhook): boolean {
    // A lookup cannot find a place for the task while the owner's share is used up.
    if (this.#places.findRefusal(getWebhookOwner(scope), 1) === "share") return false;
    const known = this.#taskDeliveries.get(getTaskKey(scope, taskId));
    // A running lookup may have read the store before this webhook was claimed, and is then repeated.
    if (!known?.deliveries.some(({ webhook }) => webhook.key === key))
      this.#lookups.start(scope, taskId, undefined);
    return true;
  }

  #loadDueWebhooksIfCapacity(): void {
    const used = this.#taskDeliveries.size + this.#lookups.size;
    // A single owner fills half of the places, and must leave some of them before the store is read again.
    if (this.#dueLoader.hasOverflow && used < this.#context.maxTasks / 4) void this.#dueLoader.load("all");
  }
}
