/**
 * THE TASK ENGINE. The engine does not depend on HTTP, A2A versions, or a database. Four questions, and the files that
 * answer them:
 *
 * 1. Where does a message become a task? `Engine.sendMessage` passes the message to the `MessageAcceptor`, which finds the
 *    task or creates an `ActiveTask`, and creates a `Turn`. The turn starts the agent, and writes the agent's events into
 *    the active task, which validates them.
 * 2. Where does an event become durable? The `Committer` takes the pending events of all tasks (`takePendingAppend`), and
 *    commits them in one transaction. After the commit, the active task folds the events into the task.
 * 3. Where is a reader served? Each `LogSubscription` reads the committed events, first a snapshot, and then each later
 *    event from memory or from the store. Readers never write, and the writer never waits for readers.
 * 4. Where is the task of another node read? `TaskRegistry` opens such a task as a `RemoteTask`. The room `cluster`
 *    implements `RemoteTask` and `OtherNodes`. A node that starts no agents commits the start of a turn for another node
 *    (`TaskRegistry.createSubmitter`).
 *
 * `TaskRecovery` claims the turns that no living node runs. The outbox of the room `webhooks` also reads the log. The
 * engine knows the outbox only through `PushOutbox`.
 */
export * from "./public.ts";
export type * from "./task-store.ts";
export type * from "./other-nodes.ts";
export type * from "./session-repository.ts";
export type { AgentCallReport, ModelCallReport } from "./agent.ts";
export type { TaskScope } from "./caller.ts";
export { createContextIdInNamespace, isAgentInScope, isContextInScope } from "./caller.ts";
export type { Clock } from "./clock.ts";
export { getCallerKey, getLimitHolderKey, getTaskKey } from "./caller.ts";
export { formatTimestamp, systemClock } from "./clock.ts";
export { createPageTokenError } from "./list-tasks.ts";
export { foldLogEvents, hasLoggedEvent, isTurnStopEvent, readLog } from "./log-events.ts";

export { generateErrorId, generateUuidV7, type IdGenerator } from "./id-generator.ts";
export { Committer } from "./committer.ts";
export { Engine } from "./engine.ts";
export type { QueuedTurnData, TurnQueueChange, TurnRestartData } from "./turn-restart-data.ts";
export type { EngineLimits } from "./engine-limits.ts";
export { assertValidTurnLimits } from "./turn-limits.ts";

export type { DelayedDeletions, OperatorAccessReport, SweepReport } from "./observer.ts";
export { withSafeListeners } from "./observer.ts";
export type { RunSpan, RunTracing, TracedTask, TracedTurn } from "./observer.ts";
export type { ServiceParameters } from "./caller.ts";
export { STORE_RETRY_AFTER_SECONDS } from "./store-health.ts";
export type { StoreMigrationListener, StoreMigrationReport } from "./store-health.ts";
export type { StoreHealth, StoreState, StoreStateChange } from "./store-health.ts";
export type { MessageAction, TaskTurnStatus } from "./decide-message-outcome.ts";
export { isSameMessage } from "./repeated-messages.ts";
export {
  createDuplicateMessageIdError,
  createLogWentBackError,
  createServerClosingError,
  createTaskEndedError,
  isChangeByOtherWriter,
} from "./task-errors.ts";
export { getMessageAction, TaskLogTail } from "./task-feed.ts";
export type {
  InboundMessage,
  MessageAcceptResult,
  TaskCancellation,
  TaskFeed,
  TaskMessageAcceptResult,
  TurnAcceptResult,
  TurnProgress,
} from "./task-feed.ts";
export type { ActiveTask } from "./active-task.ts";
export type { Turn, TurnStartPoint } from "./turn.ts";
export type { NextEvents, StreamInterruption, Subscription } from "./log-subscription.ts";
export { createSingleEventSubscription } from "./log-subscription.ts";
export type { EnginePushOptions, PushConfigOperations } from "./push-notifications.ts";
export type { PushOutbox, TaskWithPossibleWebhooks } from "./push-notifications.ts";
export { createPushNotSupportedError, DEFAULT_REQUEST_A2A_VERSION } from "./push-notifications.ts";
