import {
  A2AError,
  type AgentCard,
  type AgentInterface,
  type JsonObject,
  type ListTaskPushNotificationConfigsResponse,
  type ListTasksRequest,
  type ListTasksResponse,
  type Operations,
  type SendMessageRequest,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
  type TaskPushNotificationConfig,
} from "../protocol/index.ts";
import { askAgent, type AgentAnswer } from "./ask-agent.ts";
import type { AgentCardCache } from "./card/agent-card-cache.ts";
import { acceptsRepeatedMessages, assertSteeringDeclared } from "./negotiated-extensions.ts";
import { openResumableStream, type StreamLimits } from "./stream/resumable-stream.ts";
import { assertKnownTaskOptions } from "./task-call-options.ts";
import type { CallOptions } from "./transport/send-http-request.ts";
import { type MessageInput, type SendOptions, toSendMessageRequest } from "./message-input.ts";
import { pollTask } from "./stream/poll-task.ts";
import { type RetryOptions, retrySafeRequest } from "./stream/retry.ts";
import type { Transport, UnaryOperation } from "./transport/transport.ts";

/**
 * A client for one remote A2A agent. A failed call rejects with an `A2AError`. An aborted call rejects with
 * the abort reason of its signal.
 */
export interface A2AClient {
  /**
   * The agent card that this client uses. The client uses the public card until `getExtendedCard` returns the
   * extended card.
   */
  readonly card: AgentCard;
  readonly cardUrl: string;
  /** The agent interface that this client calls, with its protocol version. */
  readonly agentInterface: AgentInterface;
  /**
   * Sends a message, and resolves with the text of the answer and the task when the turn ends. If the task waits
   * for the user, the text contains the agent's question. Rejects with a `TaskNotCompletedError` if the task
   * ended as FAILED, CANCELED, or REJECTED. If `signal` aborts, the client cancels the task.
   *
   * ```ts
   * const { text, task } = await client.ask("What is your name?");
   * ```
   */
  ask(input: MessageInput, options?: SendOptions): Promise<AgentAnswer>;
  /**
   * Sends a message, and resolves when the task ends or waits for the user. If
   * `configuration.returnImmediately` is set, `send` resolves as soon as the agent has accepted the message.
   * If the agent declares the idempotent send extension, the client sends the message again while the agent is
   * unreachable. Otherwise, the client never retries a `send` request.
   */
  send(input: MessageInput, options?: SendOptions): Promise<SendMessageResponse>;
  /**
   * Sends a message, yields the events of its task, and reconnects after a lost connection. If the agent does
   * not support streaming, the result is the only event.
   */
  stream(input: MessageInput, options?: SendOptions): AsyncIterable<StreamResponse>;
  readonly tasks: ClientTasks;
  /**
   * Fetches the extended card, which the agent shows only to authenticated callers. The extended card
   * replaces the client's `card` until the agent's version changes.
   */
  getExtendedCard(call?: CallOptions): Promise<AgentCard>;
  /**
   * Fetches the public agent card again if the cached copy is no longer fresh. A refresh of the agent card
   * does not change the interface that the client calls.
   */
  refreshCard(call?: Pick<CallOptions, "signal">): Promise<AgentCard>;
}

/** Task operations of one remote agent. */
export interface ClientTasks {
  get(id: string, options?: CallOptions & { readonly historyLength?: number }): Promise<Task>;
  /**
   * Returns one page of tasks. `nextPageToken` is empty on the last page of tasks. Earlier pages can have fewer
   * tasks than `pageSize`. Agents that only support A2A 0.3 cannot list tasks.
   */
  list(params?: Omit<ListTasksRequest, "tenant">, options?: CallOptions): Promise<ListTasksResponse>;
  /**
   * Asks the agent to cancel a task, and returns the task in its new state. The agent may complete the task
   * instead of canceling it.
   */
  cancel(id: string, options?: CallOptions & { readonly metadata?: JsonObject }): Promise<Task>;
  /**
   * Yields the new events of a task, or all events after the event id in `after`. The client reconnects after
   * a lost connection. If the agent does not support streaming, the client polls every second and yields the
   * complete task after each change.
   */
  subscribe(
    id: string,
    options?: CallOptions & { readonly after?: number | string },
  ): AsyncIterable<StreamResponse>;
  readonly pushConfigs: ClientPushConfigs;
}

/** Webhook configurations of a task. The agent posts task updates to the URL in each configuration. */
export interface ClientPushConfigs {
  /**
   * Registers a webhook with the agent, and returns the webhook configuration with its id. A stored webhook
   * configuration with the same id is replaced.
   */
  create(
    taskId: string,
    config: Omit<TaskPushNotificationConfig, "tenant" | "taskId">,
    call?: CallOptions,
  ): Promise<TaskPushNotificationConfig>;
  get(taskId: string, id: string, call?: CallOptions): Promise<TaskPushNotificationConfig>;
  /**
   * Returns one page of webhook configurations. `nextPageToken` is missing or empty on the last page of
   * webhook configurations.
   */
  list(
    taskId: string,
    options?: CallOptions & { readonly pageSize?: number; readonly pageToken?: string },
  ): Promise<ListTaskPushNotificationConfigsResponse>;
  /** Deletes a webhook configuration. Deleting an unknown configuration is not an error. */
  delete(taskId: string, id: string, call?: CallOptions): Promise<void>;
}

/** Dependencies of `createA2AClientFromTransport`. */
interface A2AClientDependencies extends StreamLimits {
  readonly cardCache: AgentCardCache;
  readonly agentInterface: AgentInterface;
  readonly transport: Transport;
  readonly retry: RetryOptions;
}

/** Creates a client from an agent card, the chosen interface, and a transport. */
export function createA2AClientFromTransport({
  cardCache,
  agentInterface,
  transport,
  reconnect,
  maxTaskBytes,
  retry,
}: A2AClientDependencies): A2AClient {
  // The tenant is sent exactly as in the card, or omitted (A2A §8.3.2).
  const tenant = agentInterface.tenant === undefined ? {} : { tenant: agentInterface.tenant };

  function buildSendRequest(input: MessageInput, options: SendOptions): SendMessageRequest {
    if (options.steering !== undefined) assertSteeringDeclared(cardCache.card, options.steering);
    return toSendMessageRequest(input, options, agentInterface.tenant);
  }

  const limits: StreamLimits = { reconnect, maxTaskBytes };
  const send: A2AClient["send"] = async (input, options = {}) => {
    const request = buildSendRequest(input, options);
    const call = (): Promise<SendMessageResponse> => transport.call("SendMessage", request, options);
    if (!acceptsRepeatedMessages(cardCache.card)) return await call();
    return await retrySafeRequest(retry, options.signal, call, ({ reason }) => reason === "UNAVAILABLE");
  };

  async function* sendOnce(
    input: MessageInput,
    options: SendOptions,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield await send(input, options);
  }

  /** Calls an operation without side effects, and retries failed calls. */
  function read<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: CallOptions,
  ): Promise<Operations[O]["result"]> {
    return retrySafeRequest(retry, call.signal, () => transport.call(operation, params, call));
  }

  /**
   * If the agent card does not declare the required capability, rejects and sends no request (A2A §3.3.4).
   */
  async function assertCapability(
    capability: "pushNotifications" | "extendedAgentCard",
    reason: "PUSH_NOTIFICATION_NOT_SUPPORTED" | "UNSUPPORTED_OPERATION",
  ): Promise<void> {
    const { capabilities, name } = cardCache.card;
    if (capabilities[capability] === true) return;
    const message = `${JSON.stringify(name)} does not declare ${capability} in its card. Call refreshCard() if the agent has changed.`;
    throw new A2AError(reason, message);
  }
  const assertPushSupported = (): Promise<void> =>
    assertCapability("pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED");

  const client: A2AClient = {
    get card() {
      return cardCache.card;
    },
    get cardUrl() {
      return cardCache.url;
    },
    agentInterface,
    ask: (input, options = {}) => askAgent(client, input, options),
    send,
    stream: (input, options = {}) =>
      cardCache.card.capabilities.streaming === true
        ? openResumableStream(transport, { send: buildSendRequest(input, options) }, options, limits)
        : sendOnce(input, options),
    async getExtendedCard(call = {}) {
      await assertCapability("extendedAgentCard", "UNSUPPORTED_OPERATION");
      return cardCache.setExtendedCard(await read("GetExtendedAgentCard", tenant, call));
    },
    refreshCard: ({ signal } = {}) => cardCache.refresh(signal),
    tasks: {
      async get(id, options = {}) {
        assertKnownTaskOptions.get(options);
        const { historyLength, ...call } = options;
        const length = historyLength === undefined ? {} : { historyLength };
        return read("GetTask", { ...tenant, id, ...length }, call);
      },
      async list(params = {}, call = {}) {
        assertKnownTaskOptions.list(call);
        return read("ListTasks", { ...tenant, ...params }, call);
      },
      async cancel(id, options = {}) {
        assertKnownTaskOptions.cancel(options);
        const { metadata, ...call } = options;
        return transport.call("CancelTask", { ...tenant, id, ...(metadata ? { metadata } : {}) }, call);
      },
      subscribe(id, options = {}) {
        assertKnownTaskOptions.subscribe(options);
        const { after, ...call } = options;
        return cardCache.card.capabilities.streaming === true
          ? openResumableStream(
              transport,
              { subscribe: { ...tenant, id }, lastEventId: after?.toString() },
              call,
              limits,
            )
          : pollTask(() => read("GetTask", { ...tenant, id }, call), call.signal, reconnect);
      },
      pushConfigs: {
        async create(taskId, config, call = {}) {
          assertKnownTaskOptions.pushConfigs(call);
          await assertPushSupported();
          return transport.call("CreateTaskPushNotificationConfig", { ...tenant, ...config, taskId }, call);
        },
        async get(taskId, id, call = {}) {
          assertKnownTaskOptions.pushConfigs(call);
          await assertPushSupported();
          return read("GetTaskPushNotificationConfig", { ...tenant, taskId, id }, call);
        },
        async list(taskId, options = {}) {
          assertKnownTaskOptions.listPushConfigs(options);
          const { pageSize, pageToken, ...call } = options;
          await assertPushSupported();
          const page = {
            ...(pageSize === undefined ? {} : { pageSize }),
            ...(pageToken ? { pageToken } : {}),
          };
          return read("ListTaskPushNotificationConfigs", { ...tenant, taskId, ...page }, call);
        },
        async delete(taskId, id, call = {}) {
          assertKnownTaskOptions.pushConfigs(call);
          await assertPushSupported();
          await transport.call("DeleteTaskPushNotificationConfig", { ...tenant, taskId, id }, call);
        },
      },
    },
  };
  return client;
}
