import { isTerminal, type LogEvent } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import type { TaskStore } from "../task-store.ts";
import type { NotificationSender, DeliveryResult, DeliveryFailure } from "./notification-sender.ts";
import { TaskSnapshotAtSeq } from "./task-snapshot-at-seq.ts";
import type { Webhook, WebhookRegistration } from "./push-store.ts";
import { getWebhookOwner } from "./webhook-owner.ts";

/**
 * Maximum size of the log page that one delivery step reads. After each delivery step, other deliveries to
 * the same host can continue.
 */
const MAX_DELIVERY_STEP_LOG_PAGE_SIZE = { events: 32, maxBytes: 256 * 1024 };

/** A2A version whose push notifications contain the entire task. */
const A2A_VERSION_PUSHING_ENTIRE_TASKS = "0.3";

/** State of a delivery. A delivery is idle, ready to start, working, or waiting for a retry. */
type DeliveryPhase = "idle" | "ready" | "working" | "waiting";

/**
 * Result of a delivery step. After a delivery step, the delivery has caught up with the log, has more events
 * to send, has sent the task's last event, is obsolete, has lost its lease, or has failed.
 */
export type DeliveryStepOutcome = "caught up" | "more" | "finished" | "gone" | "lost" | DeliveryFailure;

/** Where a delivery step reads events, and how it sends them. */
interface DeliveryStepContext {
  readonly store: TaskStore;
  readonly deliver: NotificationSender;
  readonly signal: AbortSignal;
  /** Called after each delivered event. */
  readonly onDelivered: () => void;
  /** Returns whether a further event may be sent now. */
  readonly maySendMore: () => boolean;
  /** Returns whether this node may deliver to the webhook. */
  readonly isLeaseHeld: () => boolean | Promise<boolean>;
}

/** Delivers the events of a task to one webhook in order. */
export class WebhookDelivery {
  readonly webhook: Webhook;
  /** Host and port of the webhook's URL. Deliveries to the same host share limits. */
  readonly host: string;
  /** Owner whose fair share the delivery uses. */
  readonly owner: string;
  state: DeliveryPhase = "idle";
  /** True if the log has new events since the delivery last read the log. */
  hasNewEvents = false;
  failureCount = 0;
  /** Wall-clock time of the first failure since the last success, in milliseconds since 1970. */
  failingSince: number | undefined;
  /**
   * True if the webhook registration was changed or removed. Later results of an obsolete delivery are
   * ignored.
   */
  isObsolete = false;
  cancelRetry: (() => void) | undefined;
  /** Monotonic time in milliseconds at which this node last knew that it holds the lease of the webhook. */
  leaseConfirmedAt: number = Number.NEGATIVE_INFINITY;
  #deliveredSeq: number;
  /** Monotonic time that corresponds to `failingSince`. */
  #failingSinceMonotonic: number | undefined;
  #taskSnapshot: TaskSnapshotAtSeq | undefined;

  constructor(webhook: Webhook, seq: number = webhook.deliveredSeq) {
    this.webhook = webhook;
    this.failingSince = webhook.failingSince;
    this.#deliveredSeq = Math.max(seq, webhook.deliveredSeq);
    this.host = getHost(webhook.config.url);
    this.owner = getWebhookOwner(webhook.scope);
  }

  /** Sequence number of the last delivered event. */
  get deliveredSeq(): number {
    return this.#deliveredSeq;
  }

  /**
   * Returns for how many milliseconds deliveries have failed. Only the failing time of an earlier process is
   * measured with the wall clock, so a change of the clock cannot end the retries of this process early.
   */
  measureFailingTime(clock: Clock): number {
    const monotonicNow = clock.monotonic();
    const now = clock.now();
    this.#failingSinceMonotonic ??= monotonicNow - Math.max(0, now - (this.failingSince ?? now));
    return monotonicNow - this.#failingSinceMonotonic;
  }

  clearFailingTime(): void {
    this.failingSince = this.#failingSinceMonotonic = undefined;
  }

  /** Returns false if the webhook was registered again with a different configuration or A2A version. */
  hasUnchangedRegistration({ config, version }: WebhookRegistration): boolean {
    const { webhook } = this;
    return webhook.version === version && JSON.stringify(webhook.config) === JSON.stringify(config);
  }

  /**
   * Delivers one page of the log. The step ends early, with the outcome `more`, if `maySendMore` returns false after a
   * delivered event.
   */
  async deliverLogPage({
    store,
    deliver,
    signal,
    onDelivered,
    maySendMore,
    isLeaseHeld,
  }: DeliveryStepContext): Promise<DeliveryStepOutcome> {
    const { scope, taskId } = this.webhook;
    this.hasNewEvents = false;
    const events = await store.readEvents(scope, taskId, this.#deliveredSeq, MAX_DELIVERY_STEP_LOG_PAGE_SIZE);
    if (events.length === 0) return "caught up";
    for (const [at, event] of events.entries()) {
      if (this.isObsolete || signal.aborted) return "gone";
      const next = events[at + 1];
      if (await this.#shouldSkipEvent(store, event, next)) {
        this.#deliveredSeq = event.seq;
        continue;
      }
      const isHeld = isLeaseHeld();
      if (isHeld !== true && !(await isHeld)) return "lost";
      const outcome = await this.#deliverEvent(deliver, event, signal);
      if (!outcome.ok) return outcome;
      this.#deliveredSeq = event.seq;
      onDelivered();
      if (isTerminalEvent(event)) return "finished";
      if (!maySendMore()) return "more";
    }
    return "more";
  }

  releaseTaskSnapshot(): void {
    this.#taskSnapshot = undefined;
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

  async #deliverEvent(
    deliver: NotificationSender,
    event: LogEvent,
    signal: AbortSignal,
  ): Promise<DeliveryResult> {
    const task = this.#taskSnapshot?.task;
    const { secretsError } = this.webhook;
    if (secretsError !== undefined) return { ok: false, reason: secretsError };
    try {
      return await deliver({ webhook: this.webhook, event, ...(task ? { task } : {}) }, signal);
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
