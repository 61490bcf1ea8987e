import { FairShareLedger } from "../../data-structures/index.ts";
import { getCallerKey, type TaskScope } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { WebhookDelivery } from "./webhook-delivery.ts";
import type { DeliveryProgressRecorder } from "./delivery-progress-recorder.ts";
import type { PushStore, Webhook, WebhookProgress, WebhookRegistration } from "./push-store.ts";
import type { RunningOperationCounter } from "./running-operation-counter.ts";
import { getWebhookOwner } from "./webhook-owner.ts";

/** A task that reports its commits to the outbox because it may have webhooks. */
export interface TaskWithPossibleWebhooks {
  readonly scope: TaskScope;
  readonly taskId: string;
  /**
   * False if the task has no webhook. If `mayHaveWebhooks` is false, commits of the task do not notify the
   * outbox.
   */
  mayHaveWebhooks: boolean;
}

/** The webhooks of one task that may still need deliveries. */
interface TaskWebhookDeliveries {
  readonly scope: TaskScope;
  readonly taskId: string;
  deliveries: WebhookDelivery[];
  /** True if all deliveries of the task have been idle since the last call to `evictIdle`. */
  wasIdleAtSweep: boolean;
}

interface WebhookLookupState {
  mustRepeat: boolean;
  task: TaskWithPossibleWebhooks | undefined;
  /** Ids of the webhooks that the latest commit registered or replaced. */
  readonly registeredIds: Set<string>;
}

const NO_REGISTRATIONS: readonly WebhookRegistration[] = [];
const DUE_PAGE_SIZE = 256;
const STORE_RETRY_MS = 1000;

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
  readonly #lookups = new Map<string, WebhookLookupState>();
  /** Deliveries of tasks that have only idle webhooks. */
  readonly #idleTaskDeliveries = new Set<TaskWebhookDeliveries>();
  /** True if at least one webhook needs deliveries but is not in memory. */
  #hasOverflow = false;
  #isRefilling = false;
  #isClosing = false;

  constructor(context: ActiveWebhooksDependencies) {
    this.#context = context;
    this.#places = new FairShareLedger({ capacity: context.maxTasks });
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
    if (!taskDeliveries || ids.length > 0) this.#startWebhookLookup(scope, taskId, task, ids);
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
    this.#startWebhookLookup(scope, taskId, undefined);
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

  /** Stops loading webhooks from the store while the outbox closes. */
  stopLoadingFromStore(): void {
    this.#isClosing = true;
  }

  /** Cancels the scheduled retries of all deliveries. */
  cancelRetries(): void {
    for (const { deliveries } of this.#taskDeliveries.values())
      for (const delivery of deliveries) delivery.cancelRetry?.();
  }

  /**
   * Looks up a task's webhooks in the store. If a lookup for the same task is already in progress, another
   * lookup follows.
   */
  #startWebhookLookup(
    scope: TaskScope,
    taskId: string,
    task: TaskWithPossibleWebhooks | undefined,
    registered: Iterable<string> = [],
  ): void {
    const name = getTaskKey(scope, taskId);
    const pending = this.#lookups.get(name);
    if (pending) {
      pending.mustRepeat = true;
      pending.task ??= task;
      for (const id of registered) pending.registeredIds.add(id);
      return;
    }
    const lookup: WebhookLookupState = { mustRepeat: false, task, registeredIds: new Set(registered) };
    this.#lookups.set(name, lookup);
    const { waitGroup } = this.#context;
    waitGroup.increment();
    void this.#runWebhookLookup(scope, taskId, lookup).finally(() => waitGroup.decrement());
  }

  async #runWebhookLookup(scope: TaskScope, taskId: string, lookup: WebhookLookupState): Promise<void> {
    const name = getTaskKey(scope, taskId);
    try {
      let webhooks: Webhook[];
      do {
        lookup.mustRepeat = false;
        webhooks = (await this.#context.store.list(scope, taskId)) ?? [];
      } while (lookup.mustRepeat);
      this.#lookups.delete(name);
      for (const { key, config } of webhooks)
        if (lookup.registeredIds.has(config.id))
          this.#context.progressRecorder.clearReregisteredWebhookFailure(key);
      const undelivered = webhooks.filter(
        ({ key, deadLetter }) =>
          !deadLetter && !isDeliveryFinishedOrDead(this.#context.progressRecorder.findUnsaved(key)),
      );
      if (undelivered.length > 0) this.#activateTaskWebhooks(scope, taskId, undelivered);
      else this.#deactivateTaskWebhooks(name);
      // A dead webhook needs deliveries again only after a new registration, which is reported.
      if (undelivered.length === 0 && lookup.task) lookup.task.mayHaveWebhooks = false;
      this.#loadDueWebhooksIfCapacity();
    } catch (error) {
      this.#lookups.delete(name);
      this.#context.onError(error, taskId);
      if (this.#isClosing) return;
      this.#context.clock.schedule(STORE_RETRY_MS, () =>
        this.#startWebhookLookup(scope, taskId, lookup.task, lookup.registeredIds),
      );
    }
  }

  #activateTaskWebhooks(scope: TaskScope, taskId: string, webhooks: Webhook[]): void {
    const name = getTaskKey(scope, taskId);
    const known = this.#taskDeliveries.get(name);
    if (!known && !this.#reservePlace(getWebhookOwner(scope))) {
      this.#hasOverflow = true;
      return;
    }
    const taskDeliveries = known ?? { scope, taskId, deliveries: [], wasIdleAtSweep: false };
    this.#taskDeliveries.set(name, taskDeliveries);
    const knownDeliveries = new Map(
      taskDeliveries.deliveries.map((delivery) => [delivery.webhook.key, delivery]),
    );
    taskDeliveries.deliveries = webhooks.map((webhook) => {
      const delivery = knownDeliveries.get(webhook.key);
      if (delivery && !delivery.isObsolete && delivery.hasUnchangedRegistration(webhook)) return delivery;
      if (delivery) this.#markDeliveryObsolete(delivery);
      return new WebhookDelivery(
        webhook,
        Math.max(
          delivery?.deliveredSeq ?? 0,
          this.#context.progressRecorder.findUnsaved(webhook.key)?.deliveredSeq ?? 0,
        ),
      );
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
      this.#hasOverflow = true;
      this.#evictTask(taskDeliveries);
      return true;
    }
    return false;
  }

  /** Loads webhooks that need deliveries from the store, up to the limit of tasks in memory. */
  async loadDueWebhooks(): Promise<void> {
    if (this.#isRefilling || this.#isClosing) return;
    this.#isRefilling = true;
    // Reset this before the query, because a webhook that overflows in the meantime may be missing from the
    // result.
    this.#hasOverflow = false;
    try {
      await this.#context.progressRecorder.flush();
      let after = 0;
      for (let more = true; more;) {
        if (this.#isClosing || this.#taskDeliveries.size + this.#lookups.size >= this.#context.maxTasks) {
          this.#hasOverflow = true;
          break;
        }
        const due = await this.#context.store.listDueWebhooks(after, DUE_PAGE_SIZE);
        for (const { key, scope, taskId } of due) {
          after = key;
          // A lookup cannot find a place for the task while the owner's share is used up.
          if (this.#places.findRefusal(getWebhookOwner(scope), 1) === "share") {
            this.#hasOverflow = true;
            continue;
          }
          const name = getTaskKey(scope, taskId);
          if (!this.#taskDeliveries.has(name) && !this.#lookups.has(name))
            this.#startWebhookLookup(scope, taskId, undefined);
        }
        more = due.length === DUE_PAGE_SIZE;
      }
      this.#isRefilling = false;
      this.#loadDueWebhooksIfCapacity();
    } catch (error) {
      this.#isRefilling = false;
      this.#hasOverflow = true;
      this.#context.onError(error);
      if (!this.#isClosing) this.#context.clock.schedule(STORE_RETRY_MS, () => void this.loadDueWebhooks());
    }
  }

  #loadDueWebhooksIfCapacity(): void {
    const used = this.#taskDeliveries.size + this.#lookups.size;
    // A single owner fills half of the places, and must leave some of them before the store is read again.
    if (this.#hasOverflow && used < this.#context.maxTasks / 4) void this.loadDueWebhooks();
  }
}

function isDeliveryFinishedOrDead(progress: WebhookProgress | undefined): boolean {
  return progress !== undefined && (progress.isFinished || progress.deadLetter !== undefined);
}

function getTaskKey(scope: TaskScope, taskId: string): string {
  return `${scope.agent}/${taskId}/${getCallerKey(scope)}`;
}
