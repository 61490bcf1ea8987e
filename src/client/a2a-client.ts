import type {
  AgentCard,
  AgentInterface,
  JsonObject,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageResponse,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from "../protocol/index.ts";
import type { MessageInput, SendOptions } from "./message-input.ts";
import type { CallOptions } from "./transport/transport.ts";

/** The answer of an agent to one message. */
export interface AgentAnswer {
  /** The text of the answer, or the agent's question if the task waits for the user. */
  readonly text: string;
  /** The task with its state and all parts of the answer. An agent can also answer without a task. */
  readonly task?: Task;
}

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
  /** URL from which the client fetched the agent card. */
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
   * Sends a message, yields the events of its task, and reconnects after a lost connection. If the connection is
   * lost before the first event, the client sends the message again only if the agent declares the idempotent send
   * extension. If the agent does not support streaming, the result is the only event.
   */
  stream(input: MessageInput, options?: SendOptions): AsyncIterable<StreamResponse>;
  /** Operations on existing tasks. */
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
  /** Returns the current task, with at most `historyLength` messages of its history. */
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
   * a lost connection. If the agent does not support streaming, the client polls and yields the complete task
   * after each change. The delay between polls grows from 100 ms to 5 s while the task does not change, and a poll
   * waits for the `Retry-After` of the agent.
   */
  subscribe(
    id: string,
    options?: CallOptions & { readonly after?: number | string },
  ): AsyncIterable<StreamResponse>;
  /** Operations on the webhooks of a task. */
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
  /** Returns one configuration of a webhook. */
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
