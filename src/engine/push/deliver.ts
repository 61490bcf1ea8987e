import type { LogEvent, Task } from "../../protocol/index.ts";
import type { Webhook } from "./store.ts";

/** One event for one webhook. */
export interface Notification {
  readonly webhook: Pick<Webhook, "scope" | "taskId" | "config" | "version">;
  readonly event: LogEvent;
  /** The task as the event left it: given when the webhook's version has the whole task in each notification. */
  readonly task?: Task;
}

export type Delivered = { readonly ok: true } | Failed;

export interface Failed {
  readonly ok: false;
  /** For the operator; without secrets. */
  readonly reason: string;
  /** How long the receiver asks to be left alone, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Trying again can not help. */
  readonly hopeless?: boolean;
}

/** Brings a notification to its receiver: one attempt, bounded in time, given up when `signal` aborts. */
export type Deliver = (notification: Notification, signal: AbortSignal) => Promise<Delivered>;
