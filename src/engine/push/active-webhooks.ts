import { getCallerKey, type TaskScope } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { WebhookDelivery } from "./webhook-delivery.ts";
import type { ProgressRecorder } from "./progress-recorder.ts";
import type { PushStore, Webhook, WebhookProgress, WebhookRegistration } from "./push-store.ts";
import type { WaitGroup } from "./wait-group.ts";

/** A task that may have webhooks, as the outbox is told of it. */
export interface WatchedTask {
  readonly scope: TaskScope;
  readonly taskId: string;
  /** False once it is known that the task has no webhook: its commits are told no more. */
  mayHaveWebhooks: boolean;
}

/** The webhooks of one task that can still be owed something. */
interface TaskDeliveries {
  readonly scope: TaskScope;
  readonly taskId: string;
  deliveries: WebhookDelivery[];
  /** Nothing has happened since progress was written down last. */
  wasIdleAtSweep: boolean;
}

interface WebhookLookup {
  mustRepeat: boolean;
  task: WatchedTask | undefined;
  /** The ids of webhooks that were registered, perhaps again, with what has just been committed. */
  readonly registeredIds: Set<string>;
}

const NO_REGISTRATIONS: readonly WebhookRegistration[] = [];
const DUE_PAGE_SIZE = 256;
const STORE_RETRY_MS = 1000;

/** What the watches work with. */
export interface ActiveWebhooksContext {
  readonly store: PushStore;
  readonly clock: Clock;
  readonly progressRecorder: ProgressRecorder;
  readonly waitGroup: WaitGroup;
  /** How many tasks there may be; what is beyond waits in the store. */
  readonly maxTasks: number;
  /** A line may have something to deliver. */
  readonly onReady: (line: WebhookDelivery) => void;
  readonly onError: (error: unknown, taskId?: string) => void;
}

/**
 * Which webhooks are served: for a bounded number of tasks a line for each. What a commit leaves word of is looked up in
 * the store, what rests is let go, and what there was no room for is taken up when there is.
 */
export class ActiveWebhooks {
  readonly #context: ActiveWebhooksContext;
  readonly #taskDeliveries = new Map<string, TaskDeliveries>();
  readonly #lookups = new Map<string, WebhookLookup>();
  /** Watches of which every line is idle. */
  readonly #idleTaskDeliveries = new Set<TaskDeliveries>();
  /** Something is owed that is not in memory. */
  #hasOverflow = false;
  #isRefilling = false;
  #isClosing = false;

  constructor(context: ActiveWebhooksContext) {
    this.#context = context;
  }

  /**
   * Word of a commit, and of the webhooks that were registered with it, perhaps in the place of others. Costs nothing that
   * grows with the task, and never throws.
   */
  notifyCommit(task: WatchedTask, registered: readonly WebhookRegistration[] = NO_REGISTRATIONS): void {
    const { scope, taskId } = task;
    const ids = registered.map(({ config }) => config.id);
    const watch = this.#taskDeliveries.get(getTaskKey(scope, taskId));
    if (!watch || ids.length > 0) this.#startLookup(scope, taskId, task, ids);
    if (!watch) return;
    for (const line of watch.deliveries) {
      // One that may have got another address goes on when that is known.
      if (line.state === "idle" && !ids.includes(line.webhook.config.id)) this.#context.onReady(line);
      else line.hasNewEvents = true;
    }
    this.#markActive(watch);
  }

  /** Word that the task's webhook of that id was removed, or registered, perhaps again: then `key` is the one it has. */
  notifyWebhookChange(scope: TaskScope, taskId: string, id: string, key?: number): void {
    const watch = this.#taskDeliveries.get(getTaskKey(scope, taskId));
    const line = watch?.deliveries.find(({ webhook }) => webhook.config.id === id);
    if (line) this.#cancelDelivery(line);
    if (key !== undefined) this.#context.progressRecorder.clearFailure(key);
    this.#startLookup(scope, taskId, undefined);
  }

  /** The line has nothing to do. */
  markIdle(line: WebhookDelivery): void {
    const watch = this.#findTaskDeliveries(line);
    if (!watch?.deliveries.every(({ state }) => state === "idle")) return;
    watch.wasIdleAtSweep = false;
    this.#idleTaskDeliveries.add(watch);
    this.#context.progressRecorder.scheduleFlush();
  }

  /** Nothing is owed to the line any more. */
  remove(line: WebhookDelivery): void {
    const watch = this.#findTaskDeliveries(line);
    if (!watch) return;
    watch.deliveries = watch.deliveries.filter((other) => other !== line);
    if (watch.deliveries.length === 0) this.#evict(watch);
    else if (watch.deliveries.every(({ state }) => state === "idle")) this.#idleTaskDeliveries.add(watch);
  }

  #findTaskDeliveries({ webhook }: WebhookDelivery): TaskDeliveries | undefined {
    return this.#taskDeliveries.get(getTaskKey(webhook.scope, webhook.taskId));
  }

  /** Takes nothing up any more that is owed from before. */
  stopRefilling(): void {
    this.#isClosing = true;
  }

  /** Takes back all next tries. */
  cancelRetries(): void {
    for (const { deliveries: lines } of this.#taskDeliveries.values())
      for (const line of lines) line.cancelRetry?.();
  }

  /** Learns from the store which webhooks a task has; asked again meanwhile, it looks again. */
  #startLookup(
    scope: TaskScope,
    taskId: string,
    live: WatchedTask | undefined,
    registered: Iterable<string> = [],
  ): void {
    const name = getTaskKey(scope, taskId);
    const underWay = this.#lookups.get(name);
    if (underWay) {
      underWay.mustRepeat = true;
      underWay.task ??= live;
      for (const id of registered) underWay.registeredIds.add(id);
      return;
    }
    const lookUp: WebhookLookup = { mustRepeat: false, task: live, registeredIds: new Set(registered) };
    this.#lookups.set(name, lookUp);
    const { waitGroup: work } = this.#context;
    work.add();
    void this.#runLookup(scope, taskId, lookUp).finally(() => work.done());
  }

  async #runLookup(scope: TaskScope, taskId: string, lookUp: WebhookLookup): Promise<void> {
    const name = getTaskKey(scope, taskId);
    try {
      let webhooks: Webhook[];
      do {
        lookUp.mustRepeat = false;
        webhooks = (await this.#context.store.list(scope, taskId)) ?? [];
      } while (lookUp.mustRepeat);
      this.#lookups.delete(name);
      for (const { key, config } of webhooks)
        if (lookUp.registeredIds.has(config.id)) this.#context.progressRecorder.clearFailure(key);
      const owed = webhooks.filter(
        ({ key, deadLetter: dead }) =>
          !dead && !isProgressFinal(this.#context.progressRecorder.findUnsaved(key)),
      );
      if (owed.length > 0) this.#activate(scope, taskId, owed);
      else this.#deactivate(name);
      // One that is dead is owed something again only when it is registered again, of which there is word.
      if (owed.length === 0 && lookUp.task) lookUp.task.mayHaveWebhooks = false;
      this.#loadDueIfCapacity();
    } catch (error) {
      this.#lookups.delete(name);
      this.#context.onError(error, taskId);
      if (this.#isClosing) return;
      this.#context.clock.schedule(STORE_RETRY_MS, () =>
        this.#startLookup(scope, taskId, lookUp.task, lookUp.registeredIds),
      );
    }
  }

  #activate(scope: TaskScope, taskId: string, webhooks: Webhook[]): void {
    const name = getTaskKey(scope, taskId);
    const known = this.#taskDeliveries.get(name);
    if (!known && this.#taskDeliveries.size >= this.#context.maxTasks && !this.#evictWaiting()) {
      this.#hasOverflow = true;
      return;
    }
    const watch = known ?? { scope, taskId, deliveries: [], wasIdleAtSweep: false };
    this.#taskDeliveries.set(name, watch);
    const before = new Map(watch.deliveries.map((line) => [line.webhook.key, line]));
    watch.deliveries = webhooks.map((webhook) => {
      const line = before.get(webhook.key);
      if (line && !line.isObsolete && line.matchesRegistration(webhook)) return line;
      if (line) this.#cancelDelivery(line);
      return new WebhookDelivery(
        webhook,
        Math.max(
          line?.deliveredSeq ?? 0,
          this.#context.progressRecorder.findUnsaved(webhook.key)?.deliveredSeq ?? 0,
        ),
      );
    });
    for (const line of watch.deliveries) if (line.state === "idle") this.#context.onReady(line);
    this.#markActive(watch);
  }

  #deactivate(name: string): void {
    const watch = this.#taskDeliveries.get(name);
    if (!watch) return;
    this.#taskDeliveries.delete(name);
    this.#idleTaskDeliveries.delete(watch);
    for (const line of watch.deliveries) this.#cancelDelivery(line);
  }

  /** Nothing that this line does counts any more. */
  #cancelDelivery(line: WebhookDelivery): void {
    line.isObsolete = true;
    line.cancelRetry?.();
  }

  #markActive(watch: TaskDeliveries): void {
    watch.wasIdleAtSweep = false;
    this.#idleTaskDeliveries.delete(watch);
  }

  /** Lets go of what has had nothing to do for a while; the next commit finds it again in the store. */
  evictIdle(): void {
    for (const watch of this.#idleTaskDeliveries) {
      if (watch.wasIdleAtSweep) this.#evict(watch);
      else watch.wasIdleAtSweep = true;
    }
    if (this.#idleTaskDeliveries.size > 0 && !this.#isClosing) this.#context.progressRecorder.scheduleFlush();
  }

  #evict(watch: TaskDeliveries): void {
    this.#idleTaskDeliveries.delete(watch);
    this.#taskDeliveries.delete(getTaskKey(watch.scope, watch.taskId));
    this.#loadDueIfCapacity();
  }

  /** Leaves a task to the store whose webhooks wait for their next try anyway. */
  #evictWaiting(): boolean {
    for (const watch of this.#taskDeliveries.values()) {
      if (!watch.deliveries.every(({ state }) => state === "waiting" || state === "idle")) continue;
      for (const line of watch.deliveries) line.cancelRetry?.();
      this.#hasOverflow = true;
      this.#evict(watch);
      return true;
    }
    return false;
  }

  /** Takes up what is owed according to the store, as much as there is room for. */
  async loadDue(): Promise<void> {
    if (this.#isRefilling || this.#isClosing) return;
    this.#isRefilling = true;
    // Not at the end: what finds no room meanwhile was perhaps not owed yet when the store was asked.
    this.#hasOverflow = false;
    try {
      await this.#context.progressRecorder.flush();
      let after = 0;
      for (let more = true; more;) {
        if (this.#isClosing || this.#taskDeliveries.size + this.#lookups.size >= this.#context.maxTasks) {
          this.#hasOverflow = true;
          break;
        }
        const due = await this.#context.store.listDue(after, DUE_PAGE_SIZE);
        for (const { key, scope, taskId } of due) {
          after = key;
          const name = getTaskKey(scope, taskId);
          if (!this.#taskDeliveries.has(name) && !this.#lookups.has(name))
            this.#startLookup(scope, taskId, undefined);
        }
        more = due.length === DUE_PAGE_SIZE;
      }
      this.#isRefilling = false;
      this.#loadDueIfCapacity();
    } catch (error) {
      this.#isRefilling = false;
      this.#hasOverflow = true;
      this.#context.onError(error);
      if (!this.#isClosing) this.#context.clock.schedule(STORE_RETRY_MS, () => void this.loadDue());
    }
  }

  #loadDueIfCapacity(): void {
    const taken = this.#taskDeliveries.size + this.#lookups.size;
    if (this.#hasOverflow && taken < this.#context.maxTasks / 2) void this.loadDue();
  }
}

function isProgressFinal(progress: WebhookProgress | undefined): boolean {
  return progress !== undefined && (progress.isFinished || progress.deadLetter !== undefined);
}

function getTaskKey(scope: TaskScope, taskId: string): string {
  return `${scope.agent}/${taskId}/${getCallerKey(scope)}`;
}
