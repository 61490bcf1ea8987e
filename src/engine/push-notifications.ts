import {
  A2AError,
  type CreateTaskPushNotificationConfigRequest,
  type DeleteTaskPushNotificationConfigRequest,
  type Empty,
  type FieldViolation,
  type GetTaskPushNotificationConfigRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  type SendMessageRequest,
  type TaskPushNotificationConfig,
} from "../protocol/index.ts";
import type { Caller, ServiceParameters, TaskScope } from "./caller.ts";
import type { IdGenerator } from "./id-generator.ts";
import type { PushStore, WebhookRegistration } from "./push-store.ts";
import type { TaskStore } from "./task-store.ts";

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
  readonly limits: PushConfigLimits;
  /** Reports a commit of a task and the webhooks that the commit registered or replaced. Never throws. */
  notifyCommit(task: TaskWithPossibleWebhooks, registered?: readonly WebhookRegistration[]): void;
  /** Reports that a webhook of the task was registered, replaced, or removed. */
  notifyWebhookChange(scope: TaskScope, taskId: string, id: string): void;
  /** Calls `listener` when the outbox has found a webhook of a task, so that commits must notify it from now on. */
  onWebhookFound(listener: (scope: TaskScope, taskId: string) => void): void;
  /** Starts the due deliveries. */
  searchAllWebhooks(): Promise<void>;
}

/** Limits on the numbers of webhooks. */
interface PushConfigLimits {
  readonly maxConfigsPerTask: number;
  readonly maxConfigsPerCaller: number;
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

/**
 * Validates a webhook configuration before its registration, and returns the violations. The validation uses the fair
 * share of `owner`.
 */
export type WebhookValidator = (
  config: TaskPushNotificationConfig,
  owner: string,
) => Promise<readonly FieldViolation[]>;

export interface PushConfigOperationsDependencies {
  readonly agentId: string;
  readonly store: PushStore;
  readonly validateWebhook: WebhookValidator;
  readonly generateId: IdGenerator;
  /** If true, responses omit the token and the credentials of webhook configurations. */
  readonly redactSecrets: boolean;
  readonly limits: PushConfigLimits;
  /** Called after a webhook was registered, replaced, or removed. */
  readonly onChange: (scope: TaskScope, taskId: string, id: string) => void;
}

/** Push notification options of an engine. The engine's store must have a `pushStore`. */
export interface EnginePushOptions {
  /**
   * The outbox that all engines with the same store share. The code that creates the outbox must also open
   * and close the outbox.
   */
  readonly outbox: PushOutbox;
  readonly validateWebhook: WebhookValidator;
  /** Creates the operations on push notification configs. Programs without push notifications do not bundle them. */
  readonly createConfigOperations: (dependencies: PushConfigOperationsDependencies) => PushConfigOperations;
  /**
   * If true, responses omit the token and the credentials of push notification configs. By default, the
   * owner of a push notification config can read its token and credentials.
   */
  readonly redactSecrets?: boolean;
}

interface EnginePushConfigsDependencies {
  readonly agentId: string;
  readonly store: TaskStore;
  readonly generateId: IdGenerator;
  /** Called when a running task may have webhooks from now on. */
  readonly onWebhookFound: (scope: TaskScope, taskId: string) => void;
}

/**
 * Creates the operations on the push notification configs of an engine, or returns `undefined` if the store keeps no
 * configs. Running tasks notice the changes of their configs.
 */
export function createEnginePushConfigs(
  { outbox, validateWebhook, createConfigOperations, redactSecrets = false }: EnginePushOptions,
  { agentId, store: { pushStore }, generateId, onWebhookFound }: EnginePushConfigsDependencies,
): PushConfigOperations | undefined {
  return (
    pushStore &&
    createConfigOperations({
      agentId,
      store: pushStore,
      validateWebhook,
      generateId,
      redactSecrets,
      limits: outbox.limits,
      onChange: (scope, taskId, id) => {
        onWebhookFound(scope, taskId);
        outbox.notifyWebhookChange(scope, taskId, id);
      },
    })
  );
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
