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
import type { ServiceParameters } from "../service-parameters.ts";
import type { PushStore, Webhook, WebhookRegistration } from "./push-store.ts";

/** Says what is wrong with a webhook that is to be registered: nothing, or where and what. */
export type WebhookValidator = (config: TaskPushNotificationConfig) => Promise<readonly FieldViolation[]>;

export interface PushConfigContext {
  readonly agentId: string;
  readonly store: PushStore;
  readonly validateWebhook: WebhookValidator;
  readonly generateId: IdGenerator;
  /** Answer configurations without their token and credentials. */
  readonly redactSecrets: boolean;
  /** The webhook of that id was removed, or registered, perhaps again: then `key` is the one it has. */
  readonly onChange: (scope: TaskScope, taskId: string, id: string, key?: number) => void;
}

/** Also what one page of a list has at most. */
const MAX_CONFIGS_PER_TASK = 100;
const DEFAULT_PAGE_SIZE = 50;
/** Whoever asks an engine without naming a version speaks as the engine does. */
const ENGINE_VERSION = "1.0";

/** The operations on push notification configurations (A2A §3.1.7–3.1.10), for the tasks of one agent. */
export class PushConfigOperations {
  readonly #context: PushConfigContext;

  constructor(context: PushConfigContext) {
    this.#context = context;
  }

  /** Registers a webhook for what happens from now on; one with a known id takes that one's place. */
  async create(
    request: CreateTaskPushNotificationConfigRequest,
    caller: Caller,
    { version = ENGINE_VERSION }: ServiceParameters = {},
  ): Promise<TaskPushNotificationConfig> {
    const { store, generateId: newId, onChange } = this.#context;
    const { taskId } = request;
    const scope = this.#toScope(caller);
    await this.#assertValidConfig(request);
    await this.#assertConfigLimit(scope, taskId, request.id);
    // A task of 0.3 has one webhook unless its caller gives it more names.
    const config = { ...request, id: request.id || (version === "0.3" ? taskId : newId()) };
    const webhook = await store.put(scope, taskId, { config, version });
    if (!webhook) throw A2AError.taskNotFound(taskId);
    onChange(scope, taskId, config.id, webhook.key);
    return this.#toConfig(webhook);
  }

  async get(
    { taskId, id }: GetTaskPushNotificationConfigRequest,
    caller: Caller,
  ): Promise<TaskPushNotificationConfig> {
    const webhook = await this.#findWebhook(this.#toScope(caller), taskId, id);
    if (webhook) return this.#toConfig(webhook);
    // Says the same of a task that is somebody else's, or nobody's.
    const text = `Task ${taskId} with a push notification config ${id} was not found; list the task's configs to see which there are.`;
    throw new A2AError("TASK_NOT_FOUND", text, { metadata: { taskId } });
  }

  async list(
    { taskId, pageSize = DEFAULT_PAGE_SIZE, pageToken }: ListTaskPushNotificationConfigsRequest,
    caller: Caller,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    const all = await this.#context.store.list(this.#toScope(caller), taskId);
    if (!all) throw A2AError.taskNotFound(taskId);
    const after = pageToken ? decodePageToken(pageToken) : 0;
    const behind = all.filter(({ key }) => key > after);
    const page = behind.slice(0, pageSize);
    const last = page.at(-1);
    const configs = page.map((webhook) => this.#toConfig(webhook));
    return last && behind.length > page.length ? { configs, nextPageToken: String(last.key) } : { configs };
  }

  async delete({ taskId, id }: DeleteTaskPushNotificationConfigRequest, caller: Caller): Promise<Empty> {
    const scope = this.#toScope(caller);
    if (!(await this.#context.store.remove(scope, taskId, id))) throw A2AError.taskNotFound(taskId);
    this.#context.onChange(scope, taskId, id);
    return {};
  }

  /** Refuses a message with a webhook that can not be registered; `getWebhookRegistration` is what comes with the others. */
  async assertConfigAccepted(
    { message, configuration }: SendMessageRequest,
    scope: TaskScope,
  ): Promise<void> {
    const config = configuration?.taskPushNotificationConfig;
    if (!config) return;
    await this.#assertValidConfig(config, "configuration.taskPushNotificationConfig.");
    if (message.taskId) await this.#assertConfigLimit(scope, message.taskId, config.id || message.taskId);
  }

  /** The webhook of that id; without one, as 0.3 may ask, the task's own or its first. */
  async #findWebhook(scope: TaskScope, taskId: string, id: string): Promise<Webhook | undefined> {
    const { store } = this.#context;
    if (id !== "") return await store.get(scope, taskId, id);
    return (await store.get(scope, taskId, taskId)) ?? (await store.list(scope, taskId))?.[0];
  }

  async #assertValidConfig(config: TaskPushNotificationConfig, path = ""): Promise<void> {
    const violations = await this.#context.validateWebhook(config);
    if (violations.length === 0) return;
    throw A2AError.invalidParams(
      violations.map(({ field, description }) => ({ field: path + field, description })),
    );
  }

  async #assertConfigLimit(scope: TaskScope, taskId: string, id: string | undefined): Promise<void> {
    const all = await this.#context.store.list(scope, taskId);
    if (!all || all.length < MAX_CONFIGS_PER_TASK || all.some(({ config }) => config.id === id)) return;
    const text = `Task ${taskId} has ${MAX_CONFIGS_PER_TASK} push notification configs already; delete one first.`;
    throw new A2AError("RESOURCE_EXHAUSTED", text, { metadata: { taskId } });
  }

  #toConfig({ config }: Webhook): TaskPushNotificationConfig {
    if (!this.#context.redactSecrets) return config;
    const { token: _token, authentication, ...open } = config;
    return authentication ? { ...open, authentication: { scheme: authentication.scheme } } : open;
  }

  #toScope({ tenant, principal }: Caller): TaskScope {
    return { agent: this.#context.agentId, tenant, principal };
  }
}

/** The refusal of push notifications where there are none. */
export function createPushNotSupportedError(): A2AError {
  return new A2AError(
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "This agent sends no push notifications (its card says so); use SubscribeToTask or GetTask.",
  );
}

/**
 * The webhook that a message brings along. Without an id it is the task's own: a client that sends it with every message
 * means one webhook, not one more each time.
 */
export function getWebhookRegistration(
  { configuration }: SendMessageRequest,
  taskId: string,
  { version = ENGINE_VERSION }: ServiceParameters,
): WebhookRegistration | undefined {
  const config = configuration?.taskPushNotificationConfig;
  return config && { config: { ...config, id: config.id || taskId, taskId }, version };
}

/** A page's token is the key of its last webhook. */
function decodePageToken(token: string): number {
  if (/^\d{1,15}$/.test(token)) return Number(token);
  const description = "is not a token of this server; leave it out to begin with the first page";
  throw A2AError.invalidParams([{ field: "pageToken", description }]);
}
