import { parseGrpcAddress } from "../../../client/index.ts";
import { findGrpcStatus, GRPC_SERVICE_V1, GrpcChannel, type GrpcMethod } from "../../../wire/grpc/index.ts";
import type { JsonMap } from "./corpus.ts";
import {
  MAX_RESPONSE_BYTES,
  ResponseError,
  StreamedError,
  type CallOptions,
  type Reply,
  type Transport,
} from "./transport.ts";
import { GRPC_STATUSES, nameErrorByReason, OPERATIONS, type ObservedError } from "./wire-tables.ts";

/**
 * The gRPC binding (A2A §10). The messages are converted with the ProtoJSON mapping of the library. Statuses are read
 * here, because the library's channel interprets them.
 */
export function createGrpcTransport(url: string): Transport {
  const { address, tls } = parseGrpcAddress(url);
  const channel = new GrpcChannel({
    address,
    tls: tls ? {} : undefined,
    maxMessageBytes: MAX_RESPONSE_BYTES,
  });
  return {
    async call(operation, params, options) {
      const { method, isStream } = findMethod(operation);
      const request = method.request.encode(params);
      if (isStream) return await readStreamReply(channel, method, request, options);
      try {
        const response = await channel.callUnary(method, request, options);
        return { status: 200, headers: {}, body: decodeResponse(method, response) };
      } catch (failure) {
        return toErrorReply(failure, options.signal);
      }
    },
    sendRaw: () => Promise.reject(new Error("A raw step requires an HTTP binding.")),
  };
}

function findMethod(operation: string): { method: GrpcMethod; isStream: boolean } {
  const { rpc, isStream = false } = OPERATIONS[operation] ?? {};
  const method = Object.values(GRPC_SERVICE_V1.methods).find(({ path }) => path.endsWith(`/${rpc}`));
  if (!method) throw new Error(`The operation ${operation} is unknown.`);
  return { method, isStream };
}

/** Required members of responses with the values that protobuf does not transfer. */
const REQUIRED_MEMBERS: Readonly<Record<string, JsonMap>> = {
  ListTasksResponse: { tasks: [], nextPageToken: "", pageSize: 0, totalSize: 0 },
};

function decodeResponse({ response: codec }: GrpcMethod, binary: Uint8Array): JsonMap {
  return { ...REQUIRED_MEMBERS[codec.name], ...codec.decode(binary) };
}

/** Resolves with the stream after its first message, or with the error of a call that fails before. */
async function readStreamReply(
  channel: GrpcChannel,
  method: GrpcMethod,
  request: Uint8Array,
  options: CallOptions,
): Promise<Reply> {
  const stream = channel.callServerStreaming(method, request, options);
  let first: IteratorResult<Uint8Array, void>;
  try {
    first = await stream.next();
  } catch (failure) {
    return toErrorReply(failure, options.signal);
  }
  const events = (async function* readEvents(): AsyncIterable<unknown> {
    try {
      let bytes = 0;
      for (let item = first; !item.done; item = await stream.next()) {
        bytes += item.value.byteLength;
        if (bytes > MAX_RESPONSE_BYTES)
          throw new ResponseError(`The stream has more than ${MAX_RESPONSE_BYTES} bytes.`);
        yield method.response.decode(item.value);
      }
    } catch (failure) {
      const error = options.signal.aborted ? undefined : toError(failure);
      throw error ? new StreamedError(error) : failure;
    } finally {
      await stream.return();
    }
  })();
  return { status: 200, headers: {}, body: undefined, events };
}

function toErrorReply(failure: unknown, signal: AbortSignal): Reply {
  if (signal.aborted) throw signal.reason;
  const error = toError(failure);
  if (!error) throw new ResponseError(`The gRPC call failed: ${String(failure)}`);
  const status = GRPC_STATUSES[findGrpcStatus(failure)?.code ?? 2]?.[1] ?? 500;
  return { status, headers: {}, body: undefined, error };
}

function toError(failure: unknown): ObservedError | undefined {
  const found = findGrpcStatus(failure);
  if (!found) return undefined;
  const [status] = GRPC_STATUSES[found.code] ?? [`number ${found.code}`];
  const details = [...found.details];
  return { error_type: nameErrorByReason(details, "grpc", status), message: found.message, details };
}
