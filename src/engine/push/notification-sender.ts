import type { LogEvent, Task } from "../../protocol/index.ts";
import type { Webhook } from "./push-store.ts";

/** One event for one webhook. */
export interface WebhookNotification {
  readonly webhook: Pick<Webhook, "scope" | "taskId" | "config" | "version">;
  readonly event: LogEvent;
  /** The task as the event left it: given when the webhook's version has the whole task in each notification. */
  readonly task?: Task;
}

export type DeliveryResult = { readonly ok: true } | DeliveryFailure;

export interface DeliveryFailure {
  readonly ok: false;
  /** For the operator; without secrets. */
  readonly reason: string;
  /** How long the receiver asks to be left alone, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Trying again can not help. */
  readonly isPermanent?: boolean;
}

/** Brings a notification to its receiver: one attempt, bounded in time, given up when `signal` aborts. */
export type NotificationSender = (
  notification: WebhookNotification,
  signal: AbortSignal,
) => Promise<DeliveryResult>;
