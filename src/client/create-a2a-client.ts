import {
  A2AError,
  type AgentInterface,
  type Operations,
  type SendMessageRequest,
  type SendMessageResponse,
  type StreamResponse,
} from "../protocol/index.ts";
import type { A2AClient } from "./a2a-client.ts";
import { askAgent } from "./ask-agent.ts";
import type { AgentCardCache } from "./card/agent-card-cache.ts";
import { type MessageInput, type SendOptions, toSendMessageRequest } from "./message-input.ts";
import { acceptsRepeatedMessages, assertSteeringDeclared } from "./negotiated-extensions.ts";
import { pollTask } from "./stream/poll-task.ts";
import { openResumableStream, type StreamLimits } from "./stream/resumable-stream.ts";
import { type RetryOptions, retrySafeRequest } from "./stream/retry.ts";
import { assertKnownTaskOptions } from "./task-call-options.ts";
import type { CallOptions, Transport, UnaryOperation } from "./transport/transport.ts";

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
          : pollTask(() => transport.call("GetTask", { ...tenant, id }, call), call.signal, reconnect);
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
