import {
  A2AError,
  type AgentCard,
  type AgentInterface,
  type JsonObject,
  type ListTaskPushNotificationConfigsResponse,
  type ListTasksRequest,
  type ListTasksResponse,
  type Operations,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
  type TaskPushNotificationConfig,
} from "../protocol/index.ts";
import type { AgentCardCache } from "./card/agent-card-cache.ts";
import { openResumableStream } from "./stream/resumable-stream.ts";
import type { CallOptions } from "./transport/http.ts";
import { type MessageInput, type SendOptions, toSendMessageRequest } from "./message-input.ts";
import { pollTask } from "./stream/poll-task.ts";
import { type RetryOptions, retryRead } from "./stream/retry.ts";
import type { Transport, UnaryOperation } from "./transport/transport.ts";

/** An agent somewhere else. All that it does rejects with an A2AError, or with what its signal was aborted with. */
export interface A2AClient {
  /** The card as it is known: the extended one once that was asked for. */
  readonly card: AgentCard;
  readonly cardUrl: string;
  /** The interface of the card that is used, with the version that is spoken. */
  readonly agentInterface: AgentInterface;
  /** Waits until the task has ended or waits for its user, unless `configuration.returnImmediately`. Never retried. */
  send(input: MessageInput, options?: SendOptions): Promise<SendMessageResponse>;
  /** The same as it happens; resumes by itself after a cut. From an agent that does not stream: one event, the result. */
  stream(input: MessageInput, options?: SendOptions): AsyncIterable<StreamResponse>;
  readonly tasks: ClientTasks;
  /** What the agent shows only to whom it knows. It is `card` from then on, until the agent has a new version. */
  getExtendedCard(call?: CallOptions): Promise<AgentCard>;
  /** Looks whether the public card has changed, unless it is still fresh. The interface in use stays what it is. */
  refreshCard(call?: Pick<CallOptions, "signal">): Promise<AgentCard>;
}

export interface ClientTasks {
  get(id: string, options?: CallOptions & { readonly historyLength?: number }): Promise<Task>;
  /** One page; `nextPageToken` is empty on the last. An agent of A2A 0.3 cannot list. */
  list(params?: Omit<ListTasksRequest, "tenant">, options?: CallOptions): Promise<ListTasksResponse>;
  /** The task as it is then: an agent may finish instead. */
  cancel(id: string, options?: CallOptions & { readonly metadata?: JsonObject }): Promise<Task>;
  /**
   * Follows a task from now on, or from behind an event id; resumes by itself after a cut. With an agent that does not
   * stream: looks every second, and gives the whole task when it has changed.
   */
  subscribe(
    id: string,
    options?: CallOptions & { readonly after?: number | string },
  ): AsyncIterable<StreamResponse>;
  readonly pushConfigs: ClientPushConfigs;
}

/** Where an agent posts the updates of a task. */
export interface ClientPushConfigs {
  /** The configuration as the agent keeps it, with its id; a given id replaces the one that has it. */
  create(
    taskId: string,
    config: Omit<TaskPushNotificationConfig, "tenant" | "taskId">,
    call?: CallOptions,
  ): Promise<TaskPushNotificationConfig>;
  get(taskId: string, id: string, call?: CallOptions): Promise<TaskPushNotificationConfig>;
  /** One page; `nextPageToken` is missing or empty on the last. */
  list(
    taskId: string,
    options?: CallOptions & { readonly pageSize?: number; readonly pageToken?: string },
  ): Promise<ListTaskPushNotificationConfigsResponse>;
  /** Deleting what is not there is no error. */
  delete(taskId: string, id: string, call?: CallOptions): Promise<void>;
}

export interface A2AClientDependencies {
  readonly cardCache: AgentCardCache;
  readonly agentInterface: AgentInterface;
  readonly transport: Transport;
  readonly reconnect: RetryOptions;
  readonly retry: RetryOptions;
}

export function createA2AClient({
  cardCache,
  agentInterface,
  transport,
  reconnect,
  retry,
}: A2AClientDependencies): A2AClient {
  // Exactly as the card has it, or not at all (A2A §8.3.2).
  const tenant = agentInterface.tenant === undefined ? {} : { tenant: agentInterface.tenant };

  const send: A2AClient["send"] = (input, options = {}) =>
    transport.call("SendMessage", toSendMessageRequest(input, options, agentInterface.tenant), options);

  async function* sendOnce(
    input: MessageInput,
    options: SendOptions,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield await send(input, options);
  }

  /** For what only reads: it may be asked for again. */
  function read<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: CallOptions,
  ): Promise<Operations[O]["result"]> {
    return retryRead(retry, call.signal, () => transport.call(operation, params, call));
  }

  /** What the card does not offer is not asked for (A2A §3.3.4). */
  async function offered(
    capability: "pushNotifications" | "extendedAgentCard",
    reason: "PUSH_NOTIFICATION_NOT_SUPPORTED" | "UNSUPPORTED_OPERATION",
  ): Promise<void> {
    const { capabilities, name } = cardCache.card;
    if (capabilities[capability] === true) return;
    const message = `${JSON.stringify(name)} does not offer ${capability}; its card says so, refreshCard() if that has changed.`;
    throw new A2AError(reason, message);
  }
  const push = (): Promise<void> => offered("pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED");

  return {
    get card() {
      return cardCache.card;
    },
    get cardUrl() {
      return cardCache.url;
    },
    agentInterface,
    send,
    stream: (input, options = {}) =>
      cardCache.card.capabilities.streaming === true
        ? openResumableStream(
            transport,
            { send: toSendMessageRequest(input, options, agentInterface.tenant) },
            options,
            reconnect,
          )
        : sendOnce(input, options),
    async getExtendedCard(call = {}) {
      await offered("extendedAgentCard", "UNSUPPORTED_OPERATION");
      return cardCache.setExtendedCard(await read("GetExtendedAgentCard", tenant, call));
    },
    refreshCard: ({ signal } = {}) => cardCache.refresh(signal),
    tasks: {
      get: (id, { historyLength, ...call } = {}) =>
        read("GetTask", { ...tenant, id, ...(historyLength === undefined ? {} : { historyLength }) }, call),
      list: (params = {}, call = {}) => read("ListTasks", { ...tenant, ...params }, call),
      cancel: (id, { metadata, ...call } = {}) =>
        transport.call("CancelTask", { ...tenant, id, ...(metadata ? { metadata } : {}) }, call),
      subscribe: (id, { after, ...call } = {}) =>
        cardCache.card.capabilities.streaming === true
          ? openResumableStream(
              transport,
              { subscribe: { ...tenant, id }, lastEventId: after?.toString() },
              call,
              reconnect,
            )
          : pollTask(() => read("GetTask", { ...tenant, id }, call), call.signal, reconnect),
      pushConfigs: {
        async create(taskId, config, call = {}) {
          await push();
          return transport.call("CreateTaskPushNotificationConfig", { ...tenant, ...config, taskId }, call);
        },
        async get(taskId, id, call = {}) {
          await push();
          return read("GetTaskPushNotificationConfig", { ...tenant, taskId, id }, call);
        },
        async list(taskId, { pageSize, pageToken, ...call } = {}) {
          await push();
          const page = {
            ...(pageSize === undefined ? {} : { pageSize }),
            ...(pageToken ? { pageToken } : {}),
          };
          return read("ListTaskPushNotificationConfigs", { ...tenant, taskId, ...page }, call);
        },
        async delete(taskId, id, call = {}) {
          await push();
          await transport.call("DeleteTaskPushNotificationConfig", { ...tenant, taskId, id }, call);
        },
      },
    },
  };
}
