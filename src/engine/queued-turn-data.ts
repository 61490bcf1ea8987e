import type { Message, SendMessageRequest, TaskPushNotificationConfig } from "../protocol/index.ts";
import type { ServiceParameters } from "./service-parameters.ts";
import { type PersistableTurn, toTurnRestartData, type TurnRestartData } from "./turn-restart-data.ts";

/**
 * The persisted data of a turn that waits for the current turn of its task. The store keeps the queue of each
 * task, so that a later process can run the queued turns in order. The data excludes the scopes and claims of
 * the caller. Stores treat the members except `position` as opaque JSON.
 */
export interface QueuedTurnData extends Omit<
  TurnRestartData,
  "seq" | "attempt" | "runTraceparent" | "runStartedAt"
> {
  /** Position in the task's queue. Positions increase, and a task never reuses the position of a queued turn. */
  readonly position: number;
  /** The caller's message, with the ids of its task and context. */
  readonly message: Message;
  /** Webhook that the task registers when the turn begins. */
  readonly webhook?: TaskPushNotificationConfig;
}

/** A change of a task's stored queue. The store adds the new turns before it removes turns. */
export interface TurnQueueChange {
  readonly added: readonly QueuedTurnData[];
  /** The store removes every queued turn up to this position. By default, the store removes no turn. */
  readonly removedThrough?: number;
}

export function toQueuedTurnData(
  turn: PersistableTurn & { readonly message: Message },
  position: number,
): QueuedTurnData {
  const { seq: _seq, attempt: _attempt, ...data } = toTurnRestartData(turn, 0);
  const webhook = turn.request.configuration?.taskPushNotificationConfig;
  return { position, message: turn.message, ...data, ...(webhook ? { webhook } : {}) };
}

/** Returns the request and the service parameters of a persisted turn. */
export function restoreQueuedRequest({ message, request, service, webhook }: QueuedTurnData): {
  readonly request: SendMessageRequest;
  readonly serviceParameters: ServiceParameters;
} {
  const configuration = { ...request.configuration, ...(webhook && { taskPushNotificationConfig: webhook }) };
  // The task exists, so a reply without a task must complete it.
  return {
    request: { ...request, configuration, message },
    serviceParameters: { ...service, needsTask: true },
  };
}
