import { connect, type A2AClient, type ClientBindingName } from "../../../client/index.ts";
import { A2AError, type Message, type SendMessageConfiguration } from "../../../protocol/index.ts";
import type { Binding, JsonMap } from "./corpus.ts";
import { createJsonRpcTransport } from "./http-transport.ts";
import type { ServerUnderTest } from "./run-suite.ts";
import { NotVerified, type TestContext } from "./test-run.ts";
import {
  ResponseError,
  StreamedError,
  toStreamReply,
  type CallOptions,
  type Reply,
  type Transport,
} from "./transport.ts";
import { BINDING_NAMES, nameReason, OLDER_VERSION, type ObservedError } from "./wire-tables.ts";

const TIME_LIMIT_MS = 30_000;

/**
 * Opens a binding of A2A 0.3. The client of the library reads the responses without leniency, which rejects what 0.3
 * forbids, and the bodies have the form of A2A 1.0. Raw requests are those of JSON-RPC.
 */
export async function createOlderContext(binding: Binding, server: ServerUnderTest): Promise<TestContext> {
  const { baseUrl, token, trustedOrigins } = server;
  const context = { ...server, binding, specVersion: OLDER_VERSION, variables: {} };
  try {
    const client = await connect(baseUrl, {
      binding: BINDING_NAMES[binding] as ClientBindingName,
      version: OLDER_VERSION,
      peerLeniency: "none",
      timeouts: { callMs: TIME_LIMIT_MS, sendMs: TIME_LIMIT_MS },
      // A broken stream must be visible.
      reconnect: { maxRetries: 0 },
      retry: { maxRetries: 0 },
      ...(token === undefined ? {} : { auth: { bearer: token } }),
      ...(trustedOrigins && { trustedOrigins }),
    });
    const card = client.card as unknown as JsonMap;
    return { ...context, card, transport: createClientTransport(client) };
  } catch (error) {
    const refuse = (): never => {
      throw new NotVerified(`The client cannot connect: ${String(error)}`);
    };
    return { ...context, card: {}, transport: { call: refuse, sendRaw: refuse } };
  }
}

interface Params {
  readonly id: string;
  readonly taskId: string;
  readonly message: Message;
  readonly configuration?: SendMessageConfiguration;
  readonly historyLength?: number;
  readonly url: string;
}

type Call = (params: Params, call: Pick<CallOptions, "signal">) => Promise<unknown> | AsyncIterable<unknown>;

function createClientTransport(client: A2AClient): Transport {
  const { tasks } = client;
  const { pushConfigs } = tasks;
  const jsonRpc = createJsonRpcTransport(client.agentInterface.url);
  const calls: Readonly<Record<string, Call>> = {
    send_message: ({ message, ...rest }, call) => client.send(message, { ...call, ...rest }),
    send_streaming_message: ({ message, ...rest }, call) => client.stream(message, { ...call, ...rest }),
    get_task: ({ id, ...rest }, call) => tasks.get(id, { ...call, ...rest }),
    cancel_task: ({ id }, call) => tasks.cancel(id, call),
    subscribe_to_task: ({ id }, call) => tasks.subscribe(id, call),
    create_push_config: ({ taskId, ...config }, call) => pushConfigs.create(taskId, config, call),
    get_push_config: ({ taskId, id }, call) => pushConfigs.get(taskId, id, call),
    list_push_configs: ({ taskId }, call) => pushConfigs.list(taskId, call),
    delete_push_config: ({ taskId, id }, call) => pushConfigs.delete(taskId, id, call),
  };
  return {
    async call(operation, params, { signal }) {
      const call = calls[operation];
      if (!call) throw new NotVerified(`A2A 0.3 has no ${operation}.`);
      const base = { status: 200, headers: {} };
      try {
        const pending = call(params as unknown as Params, { signal });
        if (!(Symbol.asyncIterator in pending)) return { ...base, body: await pending };
        return await toStreamReply(base, readEvents(pending));
      } catch (error) {
        return toReply(error, signal);
      }
    },
    sendRaw: (request, signal) => jsonRpc.sendRaw(request, signal),
  };
}

async function* readEvents(stream: AsyncIterable<unknown>): AsyncIterable<unknown> {
  try {
    yield* stream;
  } catch (failure) {
    const { error } = toReply(failure);
    throw error ? new StreamedError(error) : failure;
  }
}

/** Converts an error of the client to a reply. A response that the client cannot read, or none, is a failure. */
function toReply(failure: unknown, signal?: AbortSignal): Reply {
  if (signal?.aborted || !(failure instanceof A2AError)) throw failure;
  const { reason, message } = failure;
  if (reason === "INVALID_AGENT_RESPONSE" || reason === "UNAVAILABLE") throw new ResponseError(message);
  const error: ObservedError = { error_type: nameReason(reason), message, details: failure.details };
  return { status: reason === "UNAUTHENTICATED" ? 401 : 400, headers: {}, body: undefined, error };
}
