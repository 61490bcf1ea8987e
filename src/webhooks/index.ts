/**
 * PUSH NOTIFICATIONS. The `Outbox` reads the task log, and sends each event to the webhooks of its task in order. The
 * store has one row per webhook. The engine calls the outbox through the interface `PushOutbox` after a commit, and
 * reads no other state of it. `createEnginePushOptions` creates the operations on push notification configs.
 */
export { FairScheduler } from "./fair-scheduler.ts";
export type {
  NotificationSender,
  DeliveryResult,
  DeliveryFailure,
  WebhookNotification,
} from "./notification-sender.ts";
export { Outbox } from "./outbox.ts";
export { createEnginePushOptions, type WebhookValidator } from "./push-config-operations.ts";
export type { PushLimits } from "./push-limits.ts";
export type { RetryPolicy } from "./retry-policy.ts";
export { getWebhookOwner } from "./webhook-delivery.ts";
export type * from "./push-store.ts";
