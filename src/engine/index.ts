/**
 * THE TASK ENGINE. The engine does not depend on HTTP, A2A versions, or a database.
 *
 * A message enters at `Engine.sendMessage` or `Engine.sendStreamingMessage`. The `MessageAcceptor` finds or creates the
 * message's `ActiveTask`, and creates a `Turn`. The turn starts the agent, and writes the agent's events into the active
 * task, which validates them. The `Committer` commits the pending events of all tasks in one transaction. After the
 * commit, the active task folds the events into the task, and publishes them to the readers.
 *
 * Each `LogSubscription` reads the committed events, first a snapshot, and then each later event from memory or from the
 * store. Readers never write, and the writer never waits for readers. The `Outbox` (push/) is also a reader of the log.
 * For each webhook, the outbox posts the events that follow the last delivered event.
 *
 * If several nodes share the store, a node follows the tasks whose turns other nodes run (`nodes/followed-task.ts`), and
 * sends messages and cancellations to these nodes as rows of the store. A node that starts no agents commits the start of
 * a turn itself (`nodes/turn-submitter.ts`). `TaskRecovery` claims the turns that no living node runs.
 */
export type {
  Agent,
  AgentCallReport,
  AgentDescription,
  AgentEvent,
  AgentMessage,
  ModelCallReport,
  Run,
  ToolCallReport,
} from "./agent.ts";
export type { StepExecution } from "./steps/turn-steps.ts";
export type { FinishedStep } from "./steps/finished-step.ts";
export type { Caller, TaskScope } from "./caller.ts";
export type { ContextScope } from "./context-scope.ts";
export { createContextIdInNamespace, isAgentInScope, isContextInScope } from "./context-scope.ts";
export type { Clock } from "./clock.ts";
export { getLimitHolderKey } from "./caller.ts";
export { systemClock } from "./clock.ts";

export { generateErrorId, generateUuidV7 } from "./id-generator.ts";
export { Committer } from "./committer.ts";
export { Engine } from "./engine.ts";
export type { EnginePushOptions } from "./engine-options.ts";
export type { QueuedTurnData, TurnQueueChange, TurnRestartData } from "./turn-restart-data.ts";
export type { EngineLimits } from "./engine-limits.ts";

export type {
  CommitReport,
  DelayedDeletions,
  Observer,
  OperatorAccessReport,
  PushDeliveryReport,
  RequestReport,
  RunReport,
  StalledReaderReport,
  SweepReport,
} from "./observer.ts";
export { withSafeListeners } from "./observer.ts";
export type { EarlierRun, RunSpan, RunTracing, TracedRun } from "./run-tracing.ts";
export type { ServiceParameters } from "./service-parameters.ts";
export type {
  ArtifactReference,
  LogAppend,
  AppendRefusal,
  SnapshotProgress,
  StoredTask,
  TaskListPage,
  TaskListQuery,
  TaskStore,
} from "./task-store.ts";
export { STORE_RETRY_AFTER_SECONDS } from "./store-health.ts";
export type { StoreMigrationListener, StoreMigrationReport } from "./store-migration-report.ts";
export type {
  SessionEventData,
  SessionEventQuery,
  SessionIdentity,
  SessionListQuery,
  SessionPage,
  SessionRepository,
  SessionStateChange,
  SessionStateLevel,
  SessionSummary,
  StoredSession,
} from "./session-repository.ts";
export type { TaskListCursor } from "./task-list-cursor.ts";
export type {
  TaskOverview,
  TaskOverviewEntry,
  TaskOverviewPage,
  TaskOverviewQuery,
} from "./task-overview.ts";
export type { StoreGauges } from "./store-gauges.ts";
export type { StoreHealth, StoreState, StoreStateChange } from "./store-health.ts";
export type { TaskTurnStatus } from "./decide-message-outcome.ts";
export { createNodeCooperation } from "./nodes/node-access.ts";
export type {
  FollowedPosition,
  FollowedTaskChange,
  NodeHint,
  NodeHints,
  NodeStore,
  TaskRequest,
  TaskRequestAnswer,
} from "./nodes/node-store.ts";
export type { ClaimedTask, TaskLease, TaskLeases, UnfinishedTask } from "./task-leases.ts";
export type {
  DeletableTask,
  StoppedTaskQuery,
  StoreEvictions,
  StoreSize,
  SweepClockStore,
  TaskDeletionOptions,
  TaskDeletionStore,
  TaskSelector,
} from "./retention/task-deletion-store.ts";
export type { SweepClockRecord } from "./retention/trusted-time.ts";
export type { RetentionOptions, RetentionPeriods } from "./retention/retention-policy.ts";
export { assertValidRetentionOptions } from "./retention/retention-policy.ts";
export { RetentionService } from "./retention/retention-service.ts";
export type { NextEvents, StreamInterruption, Subscription } from "./log-subscription.ts";
export { createSingleEventSubscription } from "./log-subscription.ts";
export type {
  NotificationSender,
  DeliveryResult,
  DeliveryFailure,
  WebhookNotification,
} from "./push/notification-sender.ts";
export { Outbox } from "./push/outbox.ts";

export type { RetryPolicy } from "./push/retry-policy.ts";
export { FairScheduler } from "./push/fair-scheduler.ts";
export { getWebhookOwner } from "./push/webhook-owner.ts";
export type { PushLimits } from "./push/push-limits.ts";
export type { WebhookValidator } from "./push/push-config-operations.ts";
export { PushConfigOperations } from "./push/push-config-operations.ts";
export { createPushNotSupportedError } from "./push/push-not-supported-error.ts";
export type { ClaimedWebhooks, DueWebhookQuery, WebhookRetries } from "./push/push-store.ts";
export type { PushStore, Webhook, WebhookProgress, WebhookRegistration } from "./push/push-store.ts";
