/**
 * WHAT HAPPENS TO A TASK. Knows no HTTP, no protocol version and no database. Two lines meet at the log:
 *
 *   write line (lives as long as the task):    agent ─event─▶ runner: judge ─▶ commit (durable, numbered) ─▶ fold ─▶ publish
 *                                                                                                    │
 *   read line (lives as long as the reader):   snapshot at seq n ─▶ events > n, from the tail or the store ─▶ reader
 *
 * A message enters at `Engine.send` or `.stream` (engine.ts), the `Inbox` finds or begins its task and a `Turn`, the
 * task's `Runner` has the agent work and writes what it says into the `LiveTask`, the `Committer` commits what became
 * ready in all tasks in one go, and `LogSubscription`s follow. Readers never write; the writer never waits for readers.
 * The `Outbox` (push/) is a reader for those who are away: it posts what lies behind a webhook's place in the log.
 */
export type { Agent, AgentDescription, AgentEvent, AgentMessage, Run } from "./agent.ts";
export type { Caller, TaskScope } from "./caller.ts";
export type { Clock } from "./clock.ts";
export { systemClock } from "./clock.ts";
export type { IdGenerator } from "./id-generator.ts";
export { generateUuidV7 } from "./id-generator.ts";
export { Committer } from "./committer.ts";
export { Engine } from "./engine.ts";
export type { EngineOptions, EnginePushOptions } from "./engine.ts";
export type { PersistedTurn } from "./persisted-turn.ts";
export type { EngineLimits } from "./limits.ts";
export { ConcurrencyLimit } from "./limits.ts";
export type { Observer, PushDeliveryReport } from "./observer.ts";
export { withSafeListeners } from "./observer.ts";
export type { ServiceParameters } from "./service-parameters.ts";
export type {
  LogAppend,
  AppendRefusal,
  TaskListCursor,
  TaskListPage,
  TaskListQuery,
  TaskStore,
  UnfinishedTask,
} from "./task-store.ts";
export type { Subscription } from "./subscription.ts";
export { createSingleEventSubscription } from "./subscription.ts";
export type {
  NotificationSender,
  DeliveryResult,
  DeliveryFailure,
  WebhookNotification,
} from "./push/notification-sender.ts";
export { Outbox } from "./push/outbox.ts";
export type { OutboxOptions } from "./push/outbox.ts";
export type { RetryPolicy } from "./push/retry-policy.ts";
export type { WebhookValidator, PushConfigOperations } from "./push/push-config-operations.ts";
export { createPushNotSupportedError } from "./push/push-config-operations.ts";
export type {
  DeadLetter,
  PushStore,
  Webhook,
  WebhookProgress,
  WebhookRegistration,
} from "./push/push-store.ts";
