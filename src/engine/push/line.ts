import { isTerminal, type LogEvent } from "../../protocol/index.ts";
import type { TaskStore } from "../store.ts";
import type { Deliver, Delivered, Failed } from "./deliver.ts";
import { Replica } from "./replica.ts";
import type { Webhook, WebhookRegistration } from "./store.ts";

/** How much of the log one go takes; then others of the same host have their go. */
const PAGE = { events: 32, maxBytes: 256 * 1024 };

/** Before 1.0 a notification is the whole task. */
const WHOLE_TASK = "0.3";

/** What a line does: nothing, wait for its go, have it, or wait for its next try. */
export type LineState = "idle" | "ready" | "working" | "waiting";

/** How a go ended: caught up with the log, more to come, the task's end delivered, or stopped by a failure. */
export type GoEnd = "caught up" | "more" | "finished" | "gone" | Failed;

/** One webhook that is being served: the events behind its place in the log, one after the other. */
export class Line {
  readonly webhook: Webhook;
  /** Whoever answers there is one receiver. */
  readonly host: string;
  state: LineState = "idle";
  /** The log has grown since it was read. */
  grown = false;
  failures = 0;
  failingSince: number | undefined;
  /** Its registration was changed or removed: nothing counts any more. */
  gone = false;
  /** Takes back the next try. */
  forgetRetry: (() => void) | undefined;
  #seq: number;
  #replica: Replica | undefined;

  constructor(webhook: Webhook, seq: number = webhook.delivered) {
    this.webhook = webhook;
    this.failingSince = webhook.failingSince;
    this.#seq = Math.max(seq, webhook.delivered);
    this.host = hostOf(webhook.config.url);
  }

  /** All events up to this one are delivered. */
  get seq(): number {
    return this.#seq;
  }

  /** False when the webhook is not as this line has it: it was registered again with something else. */
  serves({ config, version }: WebhookRegistration): boolean {
    const { webhook } = this;
    return webhook.version === version && JSON.stringify(webhook.config) === JSON.stringify(config);
  }

  /** Delivers a page of the log; `onDelivered` is told of each event that has arrived. */
  async go(store: TaskStore, deliver: Deliver, signal: AbortSignal, onDelivered: () => void): Promise<GoEnd> {
    const { scope, taskId } = this.webhook;
    this.grown = false;
    const events = await store.read(scope, taskId, this.#seq, PAGE);
    if (events.length === 0) return "caught up";
    for (const [at, event] of events.entries()) {
      if (this.gone || signal.aborted) return "gone";
      const next = events[at + 1];
      if (await this.#isSilent(store, event, next)) {
        this.#seq = event.seq;
        continue;
      }
      const outcome = await this.#deliver(deliver, event, signal);
      if (!outcome.ok) return outcome;
      this.#seq = event.seq;
      onDelivered();
      if (isEnd(event)) return "finished";
    }
    return "more";
  }

  /** Frees what can be had again. */
  rest(): void {
    this.#replica = undefined;
  }

  /** What is not sent: the user's own messages, and a whole task that the next one says all of. */
  async #isSilent(store: TaskStore, event: LogEvent, next: LogEvent | undefined): Promise<boolean> {
    const { scope, taskId, version } = this.webhook;
    if (version === WHOLE_TASK) {
      this.#replica ??= await Replica.at(store, scope, taskId, this.#seq);
      this.#replica.add(event);
      if (next && "artifactUpdate" in event.event && "artifactUpdate" in next.event) return true;
    }
    return "message" in event.event;
  }

  async #deliver(deliver: Deliver, event: LogEvent, signal: AbortSignal): Promise<Delivered> {
    const task = this.#replica?.task;
    try {
      return await deliver({ webhook: this.webhook, event, ...(task ? { task } : {}) }, signal);
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }
}

function isEnd({ event }: LogEvent): boolean {
  if ("statusUpdate" in event) return isTerminal(event.statusUpdate.status.state);
  return "task" in event && isTerminal(event.task.status.state);
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "";
}
