import {
  A2AError,
  type CreateTaskPushNotificationConfigRequest,
  type DeleteTaskPushNotificationConfigRequest,
  type Empty,
  type GetTaskPushNotificationConfigRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  type SendMessageRequest,
  type TaskPushNotificationConfig,
} from "../protocol/index.ts";
import type { Caller, ServiceParameters, TaskScope } from "./caller.ts";
import type { IdGenerator } from "./id-generator.ts";
import type { WebhookRegistration } from "./task-store.ts";

/** A task that reports its commits to the outbox because it may have webhooks. */
export interface TaskWithPossibleWebhooks {
  readonly scope: TaskScope;
  readonly taskId: string;
  /** If false, no webhook waits for the next commit of the task, and commits do not notify the outbox. */
  mayHaveWebhooks: boolean;
  /** True if a turn of the task runs according to the store. */
  readonly isRunningInStore: boolean;
}

/** The outbox of push notifications, as the engine calls it after a commit. */
export interface PushOutbox {
  /** Reports a commit of a task and the webhooks that the commit registered or replaced. Never throws. */
  notifyCommit(task: TaskWithPossibleWebhooks, registered?: readonly WebhookRegistration[]): void;
  /** Calls `listener` when a task has a webhook, so that commits must notify the outbox from now on. */
  onWebhookFound(listener: (scope: TaskScope, taskId: string) => void): void;
  /** Starts the due deliveries. */
  searchAllWebhooks(): Promise<void>;
}

/** The operations on push notification configs (A2A §3.1.7–3.1.10) for the tasks of one agent. */
export interface PushConfigOperations {
  create(
    request: CreateTaskPushNotificationConfigRequest,
    caller: Caller,
    service?: ServiceParameters,
  ): Promise<TaskPushNotificationConfig>;
  get(request: GetTaskPushNotificationConfigRequest, caller: Caller): Promise<TaskPushNotificationConfig>;
  list(
    request: ListTaskPushNotificationConfigsRequest,
    caller: Caller,
  ): Promise<ListTaskPushNotificationConfigsResponse>;
  delete(request: DeleteTaskPushNotificationConfigRequest, caller: Caller): Promise<Empty>;
  /** Throws an error if the webhook of a message cannot be registered. */
  assertMessagePushConfigAccepted(request: SendMessageRequest, scope: TaskScope): Promise<void>;
}

/** Push notification options of an engine. */
export interface EnginePushOptions {
  /** Engines with the same store share the outbox. The code that creates the outbox must also open and close it. */
  readonly outbox: PushOutbox;
  /** Creates the operations on push notification configs. Programs without push notifications do not bundle them. */
  readonly createConfigOperations: (agentId: string, generateId: IdGenerator) => PushConfigOperations;
}

/** A2A version of requests that do not specify a version. */
export const DEFAULT_REQUEST_A2A_VERSION = "1.0";

/**
 * Returns the webhook that a message registers. If the webhook has no id, its id is the task's id. A client
 * that sends a webhook with each message therefore registers only one webhook.
 */
export function extractMessageWebhookRegistration(
  { configuration }: SendMessageRequest,
  taskId: string,
  { version = DEFAULT_REQUEST_A2A_VERSION }: ServiceParameters,
): WebhookRegistration | undefined {
  const config = configuration?.taskPushNotificationConfig;
  return config && { config: { ...config, id: config.id || taskId, taskId }, version };
}

export function createPushNotSupportedError(): A2AError {
  return new A2AError(
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "This agent does not support push notifications; use SubscribeToTask or GetTask.",
  );
}
