import type {
  AgentCard,
  AgentInterface,
  JsonObject,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageResponse,
  StreamResponse,
  Task,
} from "../protocol/index.ts";
import { chooseInterface, type ClientBinding, discover } from "./discover.ts";
import { follow } from "./follow.ts";
import type { Call, Http } from "./http.ts";
import { type Input, type SendOptions, toRequest } from "./input.ts";
import { JsonRpcTransport } from "./json-rpc-transport.ts";
import type { Reconnect } from "./reconnect.ts";
import { RestTransport } from "./rest-transport.ts";
import type { Transport } from "./transport.ts";

export interface ConnectOptions {
  /** Default: the first one in the card's order. */
  readonly binding?: ClientBinding;
  /** Sent with every request, for example `Authorization`; also where the card names another host than its own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Aborts the search for the card. */
  readonly signal?: AbortSignal;
  readonly reconnect?: Reconnect;
  /** Larger answers are refused. Default 64 MiB. */
  readonly maxResponseBytes?: number;
  /** Larger events of a stream are refused. Default 16 MiB. */
  readonly maxEventBytes?: number;
}

/** An agent somewhere else. All that it does rejects with an A2AError, or with what its signal was aborted with. */
export interface Remote {
  readonly card: AgentCard;
  readonly cardUrl: string;
  /** The interface of the card that is used. */
  readonly via: AgentInterface;
  /** Waits until the task has ended or waits for its user, unless `configuration.returnImmediately`. Never retried. */
  send(input: Input, options?: SendOptions): Promise<SendMessageResponse>;
  /** The same as it happens; resumes by itself after a cut. From an agent that does not stream: one event, the result. */
  stream(input: Input, options?: SendOptions): AsyncIterable<StreamResponse>;
  readonly task: RemoteTasks;
}

export interface RemoteTasks {
  get(id: string, options?: Call & { readonly historyLength?: number }): Promise<Task>;
  /** One page; `nextPageToken` is empty on the last. */
  list(params?: Omit<ListTasksRequest, "tenant">, options?: Call): Promise<ListTasksResponse>;
  /** The task as it is then: an agent may finish instead. */
  cancel(id: string, options?: Call & { readonly metadata?: JsonObject }): Promise<Task>;
  /** Follows a task from now on, or from behind an event id; resumes by itself after a cut. */
  subscribe(id: string, options?: Call & { readonly after?: number | string }): AsyncIterable<StreamResponse>;
}

/** Finds an agent by the URL of its host, its card or itself, and speaks A2A 1.0 with it. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Remote> {
  const http: Http = {
    fetch: options.fetch ?? fetch,
    headers: options.headers ?? {},
    maxResponseBytes: options.maxResponseBytes ?? 64 * 2 ** 20,
    maxEventBytes: options.maxEventBytes ?? 16 * 2 ** 20,
  };
  const found = await discover(http, url, options.signal);
  const via = chooseInterface(found, options.binding);
  const transport =
    via.protocolBinding === "JSONRPC"
      ? new JsonRpcTransport(http, via.url)
      : new RestTransport(http, via.url);
  return remote({ ...found, via, transport, reconnect: options.reconnect ?? {} });
}

interface Connection {
  readonly card: AgentCard;
  readonly cardUrl: string;
  readonly via: AgentInterface;
  readonly transport: Transport;
  readonly reconnect: Reconnect;
}

function remote({ card, cardUrl, via, transport, reconnect }: Connection): Remote {
  // Exactly as the card has it, or not at all (A2A §8.3.2).
  const tenant = via.tenant === undefined ? {} : { tenant: via.tenant };

  const send: Remote["send"] = (input, options = {}) =>
    transport.call("SendMessage", toRequest(input, options, via.tenant), options);

  async function* sendOnce(
    input: Input,
    options: SendOptions,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield await send(input, options);
  }

  return {
    card,
    cardUrl,
    via,
    send,
    stream: (input, options = {}) =>
      card.capabilities.streaming === true
        ? follow(transport, { send: toRequest(input, options, via.tenant) }, options, reconnect)
        : sendOnce(input, options),
    task: {
      get: (id, { historyLength, ...call } = {}) =>
        transport.call(
          "GetTask",
          { ...tenant, id, ...(historyLength === undefined ? {} : { historyLength }) },
          call,
        ),
      list: (params = {}, call = {}) => transport.call("ListTasks", { ...tenant, ...params }, call),
      cancel: (id, { metadata, ...call } = {}) =>
        transport.call("CancelTask", { ...tenant, id, ...(metadata ? { metadata } : {}) }, call),
      subscribe: (id, { after, ...call } = {}) =>
        follow(transport, { subscribe: { ...tenant, id }, after: after?.toString() }, call, reconnect),
    },
  };
}
