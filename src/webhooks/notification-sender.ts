import type { LogEvent, Task } from "../protocol/index.ts";
import type { Webhook } from "./push-store.ts";

/** An event to deliver to a webhook. */
export interface WebhookNotification {
  readonly webhook: Pick<Webhook, "scope" | "taskId" | "config" | "version">;
  readonly event: LogEvent;
  /**
   * State of the task after the event is applied. `task` is set only if notifications in the webhook's A2A
   * version contain the entire task.
   */
  readonly task?: Task;
}

export type DeliveryResult = { readonly ok: true } | DeliveryFailure;

export interface DeliveryFailure {
  readonly ok: false;
  /** Reason for the failed delivery, for the operator and without secrets. */
  readonly reason: string;
  /** Delay in milliseconds that the webhook receiver requests before the next attempt. */
  readonly retryAfterMs?: number;
  /** True if retries of the delivery cannot succeed. */
  readonly isPermanent?: boolean;
}

/**
 * Sends a notification to its receiver in one attempt, which has a time limit. If `signal` aborts, the
 * delivery attempt ends.
 */
export type NotificationSender = (
  notification: WebhookNotification,
  signal: AbortSignal,
) => Promise<DeliveryResult>;
