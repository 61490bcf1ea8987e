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
} from "../../protocol/index.ts";
import type { Caller, TaskScope } from "../caller.ts";
import type { IdGenerator } from "../id-generator.ts";
import { createPageTokenError } from "../list-tasks.ts";
import type { ServiceParameters } from "../service-parameters.ts";
import { getWebhookOwner } from "./webhook-owner.ts";
import type { PushStore, Webhook, WebhookRegistration } from "./push-store.ts";

/**
 * Validates a webhook configuration before its registration, and returns the violations. The validation uses the fair
 * share of `owner`.
 */
export type WebhookValidator = (
  config: TaskPushNotificationConfig,
  owner: string,
) => Promise<readonly FieldViolation[]>;

interface PushConfigOperationsDependencies {
  readonly agentId: string;
  readonly store: PushStore;
  readonly validateWebhook: WebhookValidator;
  readonly generateId: IdGenerator;
  /** If true, responses omit the token and the credentials of webhook configurations. */
  readonly redactSecrets: boolean;
  /**
   * Called after a webhook was registered, replaced, or removed. `key` is the new key of the webhook, or
   * `undefined` if the webhook was removed.
   */
  readonly onChange: (scope: TaskScope, taskId: string, id: string, key?: number) => void;
}

/** Maximum number of webhook configurations per task, and therefore per page. */
const MAX_CONFIGS_PER_TASK = 100;
const DEFAULT_PAGE_SIZE = 50;
/** A2A version of requests that do not specify a version. */
const DEFAULT_REQUEST_A2A_VERSION = "1.0";

/** Implements the operations on push notification configs (A2A §3.1.7–3.1.10) for the tasks of one agent. */
export class PushConfigOperations {
  readonly #context: PushConfigOperationsDependencies;

  constructor(context: PushConfigOperationsDependencies) {
    this.#context = context;
  }

  /**
   * Registers a webhook for future events of a task. If the task already has a webhook with the same id,
   * the new webhook replaces the old webhook.
   */
  async create(
    request: CreateTaskPushNotificationConfigRequest,
    caller: Caller,
    { version = DEFAULT_REQUEST_A2A_VERSION }: ServiceParameters = {},
  ): Promise<TaskPushNotificationConfig> {
    const { store, generateId, onChange } = this.#context;
    const { taskId } = request;
    const scope = this.#toTaskScope(caller);
    await this.#assertValidConfig(request, getWebhookOwner(scope));
    await this.#assertConfigLimit(scope, taskId, request.id);
    // In A2A 0.3, a task has one webhook unless its caller chooses different ids.
    const config = { ...request, id: request.id || (version === "0.3" ? taskId : generateId()) };
    const webhook = await store.put(scope, taskId, { config, version });
    if (!webhook) throw A2AError.taskNotFound(taskId);
    onChange(scope, taskId, config.id, webhook.key);
    return this.#toResponseConfig(webhook);
  }

  async get(
    { taskId, id }: GetTaskPushNotificationConfigRequest,
    caller: Caller,
  ): Promise<TaskPushNotificationConfig> {
    const webhook = await this.#findWebhook(this.#toTaskScope(caller), taskId, id);
    if (webhook) return this.#toResponseConfig(webhook);
    // The error is the same for another caller's task and for a missing task.
    const text = `Push notification config ${id} of task ${taskId} was not found; list the task's configs.`;
    throw new A2AError("TASK_NOT_FOUND", text, { metadata: { taskId } });
  }

  async list(
    { taskId, pageSize = DEFAULT_PAGE_SIZE, pageToken }: ListTaskPushNotificationConfigsRequest,
    caller: Caller,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    const all = await this.#context.store.list(this.#toTaskScope(caller), taskId);
    if (!all) throw A2AError.taskNotFound(taskId);
    const after = pageToken ? decodePageToken(pageToken) : 0;
    const remaining = all.filter(({ key }) => key > after);
    const page = remaining.slice(0, pageSize);
    const last = page.at(-1);
    const configs = page.map((webhook) => this.#toResponseConfig(webhook));
    return last && remaining.length > page.length
      ? { configs, nextPageToken: String(last.key) }
      : { configs };
  }

  async delete({ taskId, id }: DeleteTaskPushNotificationConfigRequest, caller: Caller): Promise<Empty> {
    const scope = this.#toTaskScope(caller);
    if (!(await this.#context.store.remove(scope, taskId, id))) throw A2AError.taskNotFound(taskId);
    this.#context.onChange(scope, taskId, id);
    return {};
  }

  /**
   * Throws an error if the webhook of a message cannot be registered. `extractMessageWebhookRegistration` returns the
   * webhook of an accepted message.
   */
  async assertMessagePushConfigAccepted(
    { message, configuration }: SendMessageRequest,
    scope: TaskScope,
  ): Promise<void> {
    const config = configuration?.taskPushNotificationConfig;
    if (!config) return;
    await this.#assertValidConfig(
      config,
      getWebhookOwner(scope),
      "configuration.taskPushNotificationConfig.",
    );
    if (message.taskId) await this.#assertConfigLimit(scope, message.taskId, config.id || message.taskId);
  }

  /**
   * Resolves with the webhook whose id is `id`. A2A 0.3 allows an empty id. An empty id selects the webhook
   * whose id equals the task's id. If no webhook has that id, an empty id selects the task's first webhook.
   */
  async #findWebhook(scope: TaskScope, taskId: string, id: string): Promise<Webhook | undefined> {
    const { store } = this.#context;
    if (id !== "") return await store.get(scope, taskId, id);
    return (await store.get(scope, taskId, taskId)) ?? (await store.list(scope, taskId))?.[0];
  }

  async #assertValidConfig(config: TaskPushNotificationConfig, owner: string, path = ""): Promise<void> {
    const violations = await this.#context.validateWebhook(config, owner);
    if (violations.length === 0) return;
    throw A2AError.invalidParams(
      violations.map(({ field, description }) => ({ field: path + field, description })),
    );
  }

  async #assertConfigLimit(scope: TaskScope, taskId: string, id: string | undefined): Promise<void> {
    const all = await this.#context.store.list(scope, taskId);
    if (!all || all.length < MAX_CONFIGS_PER_TASK || all.some(({ config }) => config.id === id)) return;
    const text = `Task ${taskId} already has ${MAX_CONFIGS_PER_TASK} push notification configs; delete one first.`;
    throw new A2AError("RESOURCE_EXHAUSTED", text, { metadata: { taskId } });
  }

  #toResponseConfig({ config }: Webhook): TaskPushNotificationConfig {
    if (!this.#context.redactSecrets) return config;
    const { token: _token, authentication, ...publicConfig } = config;
    return authentication
      ? { ...publicConfig, authentication: { scheme: authentication.scheme } }
      : publicConfig;
  }

  #toTaskScope({ tenant, principal }: Caller): TaskScope {
    return { agent: this.#context.agentId, tenant, principal };
  }
}

export function createPushNotSupportedError(): A2AError {
  return new A2AError(
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "This agent does not support push notifications; use SubscribeToTask or GetTask.",
  );
}

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

/** Decodes a page token, which contains the key of the page's last webhook. */
function decodePageToken(token: string): number {
  if (/^\d{1,15}$/.test(token)) return Number(token);
  throw createPageTokenError("was not issued by this server");
}
