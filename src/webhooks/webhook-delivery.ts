import { copyTask, fold, isEventRefusal, isTerminal, type LogEvent, type Task } from "../protocol/index.ts";
import { type TaskScope, readLog, type TaskStore } from "../engine/index.ts";
import type { Webhook, WebhookProgress } from "./push-store.ts";
import type { DeliveryResult, DeliveryFailure, WebhookNotification } from "./notification-sender.ts";

/**
 * Maximum size of the log page that one delivery step reads. After each delivery step, other deliveries to
 * the same host can continue.
 */
const MAX_DELIVERY_STEP_LOG_PAGE_SIZE = { events: 32, maxBytes: 256 * 1024 };

/** A2A version whose push notifications contain the entire task. */
const A2A_VERSION_PUSHING_ENTIRE_TASKS = "0.3";

/**
 * State of a delivery. An idle delivery has sent all events. A ready delivery waits for a slot. An ended delivery waits
 * for the save of its progress, which releases its webhook.
 */
type DeliveryState = "idle" | "ready" | "sending" | "ended";

/**
 * Result of a delivery step. After a delivery step, the delivery has caught up with the log, has more events
 * to send, has sent the task's last event, is outdated, has lost its claim, or has failed.
 */
export type DeliveryStepOutcome = "caught up" | "more" | "finished" | "gone" | "lost" | DeliveryFailure;

/** Where a delivery step reads events, and how it sends them. */
interface DeliveryStepContext {
  readonly store: TaskStore;
  readonly deliver: (notification: WebhookNotification) => Promise<DeliveryResult>;
  readonly signal: AbortSignal;
  /** Called after each delivered event. */
  readonly onDelivered: () => void;
  /** Returns whether a further event may be sent now. */
  readonly maySendMore: () => boolean;
  /** Returns whether this node still holds the webhook. */
  readonly isHeld: () => boolean | Promise<boolean>;
}

/** Delivers the events of a task in order to one webhook that this node has claimed. */
export class WebhookDelivery {
  readonly webhook: Webhook;
  /** Host and port of the webhook's URL. Deliveries to the same host share limits. */
  readonly host: string;
  /** Owner whose fair share the delivery uses. */
  readonly owner: string;
  state: DeliveryState = "idle";
  /** True if the log has new events since the delivery last read the log. */
  hasNewEvents = false;
  /** True if the webhook was registered again or removed. Failures of an outdated delivery are ignored. */
  isOutdated = false;
  /** True if the webhook has received the last event of its task. */
  isFinished = false;
  failedAttempts: number;
  /** Time of the first failure since the last success, in milliseconds since 1970. */
  failingSince: number | undefined;
  /** Time of the next attempt, if the last attempt has failed. */
  dueAt: number | undefined;
  deadLetter: Webhook["deadLetter"];
  /** Monotonic time in milliseconds at which this node last knew that it holds the webhook. */
  claimConfirmedAt: number = Number.NEGATIVE_INFINITY;
  /** Sequence number of the last event whose delivery is saved. */
  savedSeq: number;
  #deliveredSeq: number;
  #taskSnapshot: TaskSnapshotAtSeq | undefined;

  constructor(webhook: Webhook) {
    this.webhook = webhook;
    this.failingSince = webhook.failingSince;
    this.failedAttempts = webhook.failedAttempts ?? 0;
    this.#deliveredSeq = this.savedSeq = webhook.deliveredSeq;
    this.host = getHost(webhook.config.url);
    this.owner = getWebhookOwner(webhook.scope);
  }

  /** Sequence number of the last delivered event. */
  get deliveredSeq(): number {
    return this.#deliveredSeq;
  }

  get hasUnsavedProgress(): boolean {
    return this.#deliveredSeq > this.savedSeq;
  }

  recordSuccess(): void {
    this.failedAttempts = 0;
    this.failingSince = undefined;
  }

  /** Returns the progress to save. An ended delivery releases its webhook. */
  createProgress(): WebhookProgress {
    const { webhook, isOutdated, failingSince, failedAttempts, dueAt, deadLetter } = this;
    const { key } = webhook;
    const isReleased = this.state === "ended";
    const { isFinished } = this;
    const progress = { key, deliveredSeq: this.#deliveredSeq, isFinished, isReleased };
    if (isOutdated) return progress;
    return {
      ...progress,
      ...(failingSince === undefined ? {} : { failingSince, failedAttempts }),
      ...(dueAt === undefined ? {} : { dueAt }),
      ...(deadLetter ? { deadLetter } : {}),
    };
  }

  /**
   * Delivers one page of the log. The step ends early, with the outcome `more`, if `maySendMore` returns false after a
   * delivered event.
   */
  async deliverLogPage(context: DeliveryStepContext): Promise<DeliveryStepOutcome> {
    const { store, signal, onDelivered, maySendMore, isHeld } = context;
    const { scope, taskId } = this.webhook;
    this.hasNewEvents = false;
    const events = await store.readEvents(scope, taskId, this.#deliveredSeq, MAX_DELIVERY_STEP_LOG_PAGE_SIZE);
    if (events.length === 0) return "caught up";
    for (const [at, event] of events.entries()) {
      if (this.isOutdated || signal.aborted) return "gone";
      if (await this.#shouldSkipEvent(store, event, events[at + 1])) {
        this.#deliveredSeq = event.seq;
        continue;
      }
      const held = isHeld();
      if (held !== true && !(await held)) return "lost";
      const outcome = await this.#deliverEvent(context, event);
      if (!outcome.ok) return outcome;
      this.#deliveredSeq = event.seq;
      onDelivered();
      if (isTerminalEvent(event)) return "finished";
      if (!maySendMore()) return "more";
    }
    return "more";
  }

  /**
   * Resolves with true if the event is not sent to the webhook. Webhooks do not receive the user's
   * messages. In A2A 0.3, webhooks also do not receive chunks whose content the next event repeats.
   */
  async #shouldSkipEvent(store: TaskStore, event: LogEvent, next: LogEvent | undefined): Promise<boolean> {
    const { scope, taskId, version } = this.webhook;
    if (version === A2A_VERSION_PUSHING_ENTIRE_TASKS) {
      this.#taskSnapshot ??= await TaskSnapshotAtSeq.loadAtSeq(store, scope, taskId, this.#deliveredSeq);
      this.#taskSnapshot.apply(event);
      if (next && "artifactUpdate" in event.event && "artifactUpdate" in next.event) return true;
    }
    return "message" in event.event;
  }

  async #deliverEvent({ deliver }: DeliveryStepContext, event: LogEvent): Promise<DeliveryResult> {
    const task = this.#taskSnapshot?.task;
    const { secretsError } = this.webhook;
    if (secretsError !== undefined) return { ok: false, reason: secretsError };
    try {
      return await deliver({ webhook: this.webhook, event, ...(task ? { task } : {}) });
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }
}

function isTerminalEvent({ event }: LogEvent): boolean {
  if ("statusUpdate" in event) return isTerminal(event.statusUpdate.status.state);
  return "task" in event && isTerminal(event.task.status.state);
}

function getHost(url: string): string {
  return URL.parse(url)?.host ?? "";
}

/** The state of a task at one position in its log. `TaskSnapshotAtSeq` advances event by event. */
export class TaskSnapshotAtSeq {
  #task: Task | undefined;
  #seq: number;

  private constructor(task: Task | undefined, seq: number) {
    this.#task = task;
    this.#seq = seq;
  }

  /** Loads the state of the task at `seq`. The sequence number `seq` can be far behind the end of the log. */
  static async loadAtSeq(
    store: TaskStore,
    scope: TaskScope,
    taskId: string,
    seq: number,
  ): Promise<TaskSnapshotAtSeq> {
    const newest = seq > 0 ? await store.load(scope, taskId) : undefined;
    if (newest?.seq === seq) return new TaskSnapshotAtSeq(newest.task, seq);
    const snapshot = new TaskSnapshotAtSeq(undefined, 0);
    for await (const event of readLog(store, { scope, taskId }, 0, seq)) snapshot.apply(event);
    return snapshot;
  }

  /** Applies the next event to the task. `TaskSnapshotAtSeq` ignores events that were already applied. */
  apply(event: LogEvent): void {
    if (event.seq <= this.#seq) return;
    const folded = fold(this.#task, event.event);
    // Logged events were validated when they were accepted.
    if (!isEventRefusal(folded)) this.#task = folded;
    this.#seq = event.seq;
  }

  /** Returns a copy of the task that later events do not change. */
  get task(): Task | undefined {
    return this.#task && copyTask(this.#task);
  }
}

/**
 * Returns the owner whose fair share a webhook uses. A principal counts as one owner across all tenants, because the
 * stored scope does not show whether the principal has chosen the tenant. Unauthenticated callers are one owner.
 */
export function getWebhookOwner({ principal }: Pick<TaskScope, "principal">): string {
  return principal;
}
