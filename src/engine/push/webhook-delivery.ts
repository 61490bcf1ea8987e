import { isTerminal, type LogEvent } from "../../protocol/index.ts";
import type { TaskStore } from "../task-store.ts";
import type { NotificationSender, DeliveryResult, DeliveryFailure } from "./notification-sender.ts";
import { TaskProjection } from "./task-projection.ts";
import type { Webhook, WebhookRegistration } from "./push-store.ts";

/** How much of the log one go takes; then others of the same host have their go. */
const PAGE_LIMIT = { events: 32, maxBytes: 256 * 1024 };

/** Before 1.0 a notification is the whole task. */
const WHOLE_TASK_VERSION = "0.3";

/** What a line does: nothing, wait for its go, have it, or wait for its next try. */
export type DeliveryState = "idle" | "ready" | "working" | "waiting";

/** How a go ended: caught up with the log, more to come, the task's end delivered, or stopped by a failure. */
export type DeliveryPageOutcome = "caught up" | "more" | "finished" | "gone" | DeliveryFailure;

/** One webhook that is being served: the events behind its place in the log, one after the other. */
export class WebhookDelivery {
  readonly webhook: Webhook;
  /** Whoever answers there is one receiver. */
  readonly host: string;
  state: DeliveryState = "idle";
  /** The log has grown since it was read. */
  hasNewEvents = false;
  failureCount = 0;
  failingSince: number | undefined;
  /** Its registration was changed or removed: nothing counts any more. */
  isObsolete = false;
  /** Takes back the next try. */
  cancelRetry: (() => void) | undefined;
  #deliveredSeq: number;
  #projection: TaskProjection | undefined;

  constructor(webhook: Webhook, seq: number = webhook.deliveredSeq) {
    this.webhook = webhook;
    this.failingSince = webhook.failingSince;
    this.#deliveredSeq = Math.max(seq, webhook.deliveredSeq);
    this.host = getHost(webhook.config.url);
  }

  /** All events up to this one are delivered. */
  get deliveredSeq(): number {
    return this.#deliveredSeq;
  }

  /** False when the webhook is not as this line has it: it was registered again with something else. */
  matchesRegistration({ config, version }: WebhookRegistration): boolean {
    const { webhook } = this;
    return webhook.version === version && JSON.stringify(webhook.config) === JSON.stringify(config);
  }

  /** Delivers a page of the log; `onDelivered` is told of each event that has arrived. */
  async deliverPage(
    store: TaskStore,
    deliver: NotificationSender,
    signal: AbortSignal,
    onDelivered: () => void,
  ): Promise<DeliveryPageOutcome> {
    const { scope, taskId } = this.webhook;
    this.hasNewEvents = false;
    const events = await store.readEvents(scope, taskId, this.#deliveredSeq, PAGE_LIMIT);
    if (events.length === 0) return "caught up";
    for (const [at, event] of events.entries()) {
      if (this.isObsolete || signal.aborted) return "gone";
      const next = events[at + 1];
      if (await this.#shouldSkip(store, event, next)) {
        this.#deliveredSeq = event.seq;
        continue;
      }
      const outcome = await this.#deliverEvent(deliver, event, signal);
      if (!outcome.ok) return outcome;
      this.#deliveredSeq = event.seq;
      onDelivered();
      if (isTerminalEvent(event)) return "finished";
    }
    return "more";
  }

  /** Frees what can be had again. */
  releaseProjection(): void {
    this.#projection = undefined;
  }

  /** What is not sent: the user's own messages, and a whole task that the next one says all of. */
  async #shouldSkip(store: TaskStore, event: LogEvent, next: LogEvent | undefined): Promise<boolean> {
    const { scope, taskId, version } = this.webhook;
    if (version === WHOLE_TASK_VERSION) {
      this.#projection ??= await TaskProjection.loadAt(store, scope, taskId, this.#deliveredSeq);
      this.#projection.apply(event);
      if (next && "artifactUpdate" in event.event && "artifactUpdate" in next.event) return true;
    }
    return "message" in event.event;
  }

  async #deliverEvent(
    deliver: NotificationSender,
    event: LogEvent,
    signal: AbortSignal,
  ): Promise<DeliveryResult> {
    const task = this.#projection?.task;
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
