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
import { Quota } from "../base/data-structures/index.ts";
import {
  getCallerKey,
  type Caller,
  type TaskScope,
  createPageTokenError,
  type ServiceParameters,
  DEFAULT_REQUEST_A2A_VERSION,
  type PushConfigOperations,
  type EnginePushOptions,
  type IdGenerator,
} from "../engine/index.ts";
import type { Webhook, PushStore } from "./push-store.ts";
import type { Outbox } from "./outbox.ts";
import { getWebhookOwner } from "./webhook-delivery.ts";

/** Time in seconds after which a caller may register another webhook, because earlier deliveries may have ended. */
const REGISTRATION_RETRY_AFTER_SECONDS = 10;
const DEFAULT_PAGE_SIZE = 50;

/**
 * Validates a webhook configuration before its registration, and returns the violations. The validation uses the fair
 * share of `owner`.
 */
export type WebhookValidator = (
  config: TaskPushNotificationConfig,
  owner: string,
) => Promise<readonly FieldViolation[]>;

/** Options of the operations on push notification configs, for all agents of a server. */
export interface PushConfigOptions {
  readonly outbox: Outbox;
  readonly store: PushStore;
  readonly validateWebhook: WebhookValidator;
  /**
   * If true, responses omit the token and the credentials of push notification configs. By default, the
   * owner of a push notification config can read its token and credentials.
   */
  readonly redactSecrets?: boolean;
}

/** Creates the options of an engine with push notifications. */
export function createEnginePushOptions(options: PushConfigOptions): EnginePushOptions {
  return {
    outbox: options.outbox,
    createConfigOperations: (agentId, generateId) =>
      new WebhookConfigOperations(options, agentId, generateId),
  };
}

/** Implements the operations on push notification configs (A2A §3.1.7–3.1.10) for the tasks of one agent. */
class WebhookConfigOperations implements PushConfigOperations {
  readonly #context: PushConfigOptions;
  readonly #agentId: string;
  readonly #generateId: IdGenerator;
  /** Numbers of registrations that are not stored yet, by task and by scope. */
  readonly #registering = new Quota({ capacity: Infinity });

  constructor(context: PushConfigOptions, agentId: string, generateId: IdGenerator) {
    this.#context = context;
    this.#agentId = agentId;
    this.#generateId = generateId;
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
    const { store, outbox } = this.#context;
    const { taskId } = request;
    const scope = this.#toTaskScope(caller);
    await this.#assertValidConfig(request, getWebhookOwner(scope));
    // In A2A 0.3, a task has one webhook unless its caller chooses different ids.
    const config = { ...request, id: request.id || (version === "0.3" ? taskId : this.#generateId()) };
    const webhook = await this.#whileCountingRegistration(scope, taskId, async () => {
      await this.#assertConfigLimits(scope, taskId, config.id);
      return await store.put(scope, taskId, { config, version });
    });
    if (!webhook) throw A2AError.taskNotFound(taskId);
    outbox.notifyWebhookChange(scope, taskId, config.id);
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
    this.#context.outbox.notifyWebhookChange(scope, taskId, id);
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
    await this.#assertConfigLimits(scope, message.taskId, config.id || message.taskId);
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
    if (violations.length > 0)
      throw A2AError.invalidParams(
        violations.map(({ field, description }) => ({ field: path + field, description })),
      );
    if (config.token || config.authentication?.credentials) this.#context.store.assertCanStoreSecrets?.();
  }

  /** Counts a registration while `register` runs, so that concurrent registrations cannot exceed the limits. */
  async #whileCountingRegistration<T>(
    scope: TaskScope,
    taskId: string,
    register: () => Promise<T>,
  ): Promise<T> {
    const holders = [getScopeName(scope), getTaskName(scope, taskId)];
    for (const holder of holders) this.#registering.reserveUnchecked(holder, 1);
    try {
      return await register();
    } finally {
      for (const holder of holders) this.#registering.release(holder, 1);
    }
  }

  /** Throws `RESOURCE_EXHAUSTED` if the task or the caller has too many webhooks. Replacing a webhook is allowed. */
  async #assertConfigLimits(
    scope: TaskScope,
    taskId: string | undefined,
    id: string | undefined,
  ): Promise<void> {
    const { store, outbox } = this.#context;
    const { maxConfigsPerTask, maxConfigsPerCaller } = outbox.limits;
    const siblings = taskId ? ((await store.list(scope, taskId)) ?? []) : [];
    if (siblings.some(({ config }) => config.id === id)) return;
    const registeringForTask = taskId ? this.#registering.getReservedBy(getTaskName(scope, taskId)) : 0;
    if (siblings.length + Math.max(1, registeringForTask) > maxConfigsPerTask)
      throw createConfigLimitError(
        `Task ${taskId} already has ${maxConfigsPerTask} push notification configs (push.maxConfigsPerTask); delete one first.`,
      );
    const undelivered = (await store.countUndelivered?.(scope, maxConfigsPerCaller)) ?? 0;
    const registering = Math.max(1, this.#registering.getReservedBy(getScopeName(scope)));
    if (undelivered + registering > maxConfigsPerCaller)
      throw createConfigLimitError(
        `This caller already has ${maxConfigsPerCaller} push notification configs of unfinished tasks or deliveries (push.maxConfigsPerCaller); delete some, or try again later.`,
      );
  }

  #toResponseConfig({ config }: Webhook): TaskPushNotificationConfig {
    if (!this.#context.redactSecrets) return config;
    const { token: _token, authentication, ...publicConfig } = config;
    return authentication
      ? { ...publicConfig, authentication: { scheme: authentication.scheme } }
      : publicConfig;
  }

  #toTaskScope({ tenant, principal }: Caller): TaskScope {
    return { agent: this.#agentId, tenant, principal };
  }
}

function getScopeName(scope: TaskScope): string {
  return `${scope.agent}/${getCallerKey(scope)}`;
}

function getTaskName(scope: TaskScope, taskId: string): string {
  return `${taskId}/${getScopeName(scope)}`;
}

function createConfigLimitError(text: string): A2AError {
  return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: REGISTRATION_RETRY_AFTER_SECONDS });
}

/** Decodes a page token, which contains the key of the page's last webhook. */
function decodePageToken(token: string): number {
  if (/^\d{1,15}$/.test(token)) return Number(token);
  throw createPageTokenError("was not issued by this server");
}
