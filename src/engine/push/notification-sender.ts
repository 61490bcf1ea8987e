import type { LogEvent, Task } from "../../protocol/index.ts";
import type { Webhook } from "./push-store.ts";

/** One event to deliver to one webhook. */
export interface WebhookNotification {
  readonly webhook: Pick<Webhook, "scope" | "taskId" | "config" | "version">;
  readonly event: LogEvent;
  /**
   * The task after the event. The task is set when notifications in the webhook's A2A version contain the
   * entire task.
   */
  readonly task?: Task;
}

export type DeliveryResult = { readonly ok: true } | DeliveryFailure;

export interface DeliveryFailure {
  readonly ok: false;
  /** Reason for the operator, without secrets. */
  readonly reason: string;
  /** Delay in milliseconds that the receiver requests before the next attempt. */
  readonly retryAfterMs?: number;
  /** True when retries cannot succeed. */
  readonly isPermanent?: boolean;
}

/**
 * Sends a notification to its receiver in one attempt with a time limit. The attempt ends when `signal`
 * aborts.
 */
export type NotificationSender = (
  notification: WebhookNotification,
  signal: AbortSignal,
) => Promise<DeliveryResult>;
