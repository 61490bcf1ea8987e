import { defineOptionNames } from "../base/usage-checks/index.ts";
import {
  A2AError,
  type AgentInterface,
  isTerminal,
  type Operations,
  type SendMessageRequest,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
} from "../protocol/index.ts";
import type { A2AClient } from "./a2a-client.ts";
import { askAgent } from "./ask-agent.ts";
import type { AgentCardCache } from "./card/fetch-card.ts";
import { delay } from "./http/deadline.ts";
import { type MessageInput, type SendOptions, toSendMessageRequest } from "./message-input.ts";
import { acceptsRepeatedMessages, assertSteeringDeclared } from "./negotiated-extensions.ts";
import { openResumableStream, type StreamLimits } from "./stream/resumable-stream.ts";
import { Backoff, isRetryable, type RetryOptions, retrySafeRequest } from "./stream/retry.ts";
import {
  CALL_OPTION_NAMES,
  type CallOptions,
  type Transport,
  type UnaryOperation,
} from "./transport/transport.ts";

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
  const assertPushCall = async (call: CallOptions): Promise<void> => {
    assertKnownTaskOptions.pushConfigs(call);
    await assertCapability("pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED");
  };

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
        ? openResumableStream(
            transport,
            {
              send: buildSendRequest(input, options),
              isRepeatable: acceptsRepeatedMessages(cardCache.card),
            },
            options,
            limits,
          )
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
          await assertPushCall(call);
          return transport.call("CreateTaskPushNotificationConfig", { ...tenant, ...config, taskId }, call);
        },
        async get(taskId, id, call = {}) {
          await assertPushCall(call);
          return read("GetTaskPushNotificationConfig", { ...tenant, taskId, id }, call);
        },
        async list(taskId, options = {}) {
          assertKnownTaskOptions.listPushConfigs(options);
          const { pageSize, pageToken, ...call } = options;
          await assertCapability("pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED");
          const page = {
            ...(pageSize === undefined ? {} : { pageSize }),
            ...(pageToken ? { pageToken } : {}),
          };
          return read("ListTaskPushNotificationConfigs", { ...tenant, taskId, ...page }, call);
        },
        async delete(taskId, id, call = {}) {
          await assertPushCall(call);
          await transport.call("DeleteTaskPushNotificationConfig", { ...tenant, taskId, id }, call);
        },
      },
    },
  };
  return client;
}

type TaskOptions<Operation extends "get" | "cancel" | "subscribe"> = NonNullable<
  Parameters<A2AClient["tasks"][Operation]>[1]
>;
type PushListOptions = NonNullable<Parameters<A2AClient["tasks"]["pushConfigs"]["list"]>[1]>;

type TaskOperationWithOptions = "get" | "list" | "cancel" | "subscribe" | "pushConfigs" | "listPushConfigs";

/** Functions that throw a `TypeError` for unknown options of the operations of `A2AClient.tasks`. */
export const assertKnownTaskOptions: Readonly<Record<TaskOperationWithOptions, (options: unknown) => void>> =
  {
    get: defineOptionNames<TaskOptions<"get">>()("tasks.get", CALL_OPTION_NAMES, "historyLength"),
    list: defineOptionNames<CallOptions>()("tasks.list", CALL_OPTION_NAMES),
    cancel: defineOptionNames<TaskOptions<"cancel">>()("tasks.cancel", CALL_OPTION_NAMES, "metadata"),
    subscribe: defineOptionNames<TaskOptions<"subscribe">>()("tasks.subscribe", CALL_OPTION_NAMES, "after"),
    pushConfigs: defineOptionNames<CallOptions>()("tasks.pushConfigs", CALL_OPTION_NAMES),
    listPushConfigs: defineOptionNames<PushListOptions>()(
      "tasks.pushConfigs.list",
      CALL_OPTION_NAMES,
      "pageSize pageToken",
    ),
  };

/** Delay in milliseconds before the first poll, and after a change of the task. */
const FIRST_POLL_DELAY_MS = 100;
/** The delay doubles after each poll without a change, up to this limit in milliseconds. */
const MAX_POLL_DELAY_MS = 5_000;

/**
 * Polls a task of an agent that does not support streaming (A2A §3.3.4). Yields the complete task after each change. If
 * the agent requests a delay with `Retry-After`, the next poll waits for the delay, up to five minutes. `reconnect`
 * contains the attempts and delays while the agent is unreachable or overloaded.
 */
export async function* pollTask(
  read: () => Promise<Task>,
  signal: AbortSignal | undefined,
  reconnect: RetryOptions = {},
): AsyncGenerator<StreamResponse & { task: Task }, void, undefined> {
  const { sleep = delay } = reconnect;
  const backoff = new Backoff(reconnect);
  let lastSeen: string | undefined;
  let delayMs = FIRST_POLL_DELAY_MS;
  for (;;) {
    if (lastSeen !== undefined) await sleep(delayMs, signal);
    let task: Task;
    try {
      task = await read();
    } catch (error) {
      if (!isRetryable(error) || !(await backoff.waitForRetry(error, signal))) throw error;
      continue;
    }
    backoff.reset();
    const serialized = JSON.stringify(task);
    delayMs = Math.min(delayMs * 2, MAX_POLL_DELAY_MS);
    if (serialized !== lastSeen) {
      yield { task };
      delayMs = FIRST_POLL_DELAY_MS;
      lastSeen = serialized;
    }
    if (isTerminal(task.status.state)) return;
  }
}
