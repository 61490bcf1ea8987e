import { BinaryReader } from "@bufbuild/protobuf/wire";
import * as grpc from "@grpc/grpc-js";
import { GRPC_SERVICE_V1, type GrpcMethod } from "../../src/wire/grpc/index.ts";
import type { JsonMap } from "./corpus.ts";
import { StreamedError } from "./http-transport.ts";
import { ResponseError, type Reply, type Transport } from "./transport.ts";
import { GRPC_STATUSES, nameErrorByReason, OPERATIONS, type ObservedError } from "./wire-tables.ts";

const serialize = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
const deserialize = (bytes: Buffer): Uint8Array => bytes;

/**
 * The gRPC binding (A2A §10). The messages are converted with the ProtoJSON mapping of the library. Statuses and error
 * details are read here, because the library's channel interprets them.
 */
export function createGrpcTransport(address: string): Transport {
  const client = new grpc.Client(address.replace(/^\w+:\/\//, ""), grpc.credentials.createInsecure());
  return {
    async call(operation, params, { headers, signal }) {
      const { method, isStream } = findMethod(operation);
      const metadata = new grpc.Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      const request = encodeRequest(method, params);
      if (!isStream) return await callUnary(client, method, request, metadata, signal);
      const stream = client.makeServerStreamRequest(method.path, serialize, deserialize, request, metadata);
      const abort = (): void => stream.cancel();
      signal.addEventListener("abort", abort, { once: true });
      return await readStreamReply(stream, method);
    },
    sendRaw: () => Promise.reject(new Error("A raw step requires an HTTP binding.")),
    close: () => client.close(),
  };
}

function findMethod(operation: string): { method: GrpcMethod; isStream: boolean } {
  const { rpc, isStream = false } = OPERATIONS[operation] ?? {};
  const method = Object.values(GRPC_SERVICE_V1.methods).find(({ path }) => path.endsWith(`/${rpc}`));
  if (!method) throw new Error(`The operation ${operation} is unknown.`);
  return { method, isStream };
}

function encodeRequest(method: GrpcMethod, params: JsonMap): Uint8Array {
  return method.request.encode(params);
}

/** Required members of responses with the values that protobuf does not transfer. */
const REQUIRED_MEMBERS: Readonly<Record<string, JsonMap>> = {
  ListTasksResponse: { tasks: [], nextPageToken: "", pageSize: 0, totalSize: 0 },
};

function decodeResponse({ response: codec }: GrpcMethod, binary: Uint8Array): JsonMap {
  return { ...REQUIRED_MEMBERS[codec.name], ...codec.decode(binary) };
}

function callUnary(
  client: grpc.Client,
  method: GrpcMethod,
  request: Uint8Array,
  metadata: grpc.Metadata,
  signal: AbortSignal,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const call = client.makeUnaryRequest(
      method.path,
      serialize,
      deserialize,
      request,
      metadata,
      (failure: grpc.ServiceError | null, response?: Uint8Array) => {
        if (signal.aborted) reject(signal.reason as Error);
        else if (failure) resolve(toErrorReply(failure));
        else
          resolve({ status: 200, headers: {}, body: decodeResponse(method, response ?? new Uint8Array()) });
      },
    );
    signal.addEventListener("abort", () => call.cancel(), { once: true });
  });
}

/** Resolves with the stream after its first message, or with the error of a call that fails before. */
async function readStreamReply(
  stream: grpc.ClientReadableStream<Uint8Array>,
  method: GrpcMethod,
): Promise<Reply> {
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let first: IteratorResult<Uint8Array>;
  try {
    first = await iterator.next();
  } catch (failure) {
    return toErrorReply(failure as grpc.ServiceError);
  }
  const events = (async function* readEvents(): AsyncIterable<unknown> {
    try {
      for (let item = first; !item.done; item = await iterator.next())
        yield method.response.decode(item.value);
    } catch (failure) {
      throw new StreamedError(toError(failure as grpc.ServiceError));
    } finally {
      stream.cancel();
    }
  })();
  return { status: 200, headers: {}, body: undefined, events };
}

function toErrorReply(failure: grpc.ServiceError): Reply {
  if (typeof failure.code !== "number") throw new ResponseError(`The gRPC call failed: ${failure.message}`);
  return {
    status: GRPC_STATUSES[failure.code]?.[1] ?? 500,
    headers: {},
    body: undefined,
    error: toError(failure),
  };
}

function toError(failure: grpc.ServiceError): ObservedError {
  const [status] = GRPC_STATUSES[failure.code] ?? [`number ${failure.code}`];
  const [binary] = failure.metadata?.get("grpc-status-details-bin") ?? [];
  const details = binary instanceof Uint8Array ? decodeStatusDetails(binary) : [];
  return { error_type: nameErrorByReason(details, "grpc", status), message: failure.details, details };
}

/** Decodes the details of a `google.rpc.Status`. Only an ErrorInfo is decoded completely. */
export function decodeStatusDetails(binary: Uint8Array): JsonMap[] {
  const details: JsonMap[] = [];
  readMessage(binary, (number, reader) => {
    if (number !== 3) return false;
    let typeUrl = "";
    let value: Uint8Array = new Uint8Array();
    readMessage(reader.bytes(), (member, any) => {
      if (member === 1) typeUrl = any.string();
      else if (member === 2) value = any.bytes();
      return member === 1 || member === 2;
    });
    details.push({
      "@type": typeUrl,
      ...(typeUrl.endsWith("/google.rpc.ErrorInfo") ? decodeErrorInfo(value) : {}),
    });
    return true;
  });
  return details;
}

function decodeErrorInfo(binary: Uint8Array): JsonMap {
  const info: Record<string, string> = {};
  readMessage(binary, (number, reader) => {
    if (number === 1) info["reason"] = reader.string();
    else if (number === 2) info["domain"] = reader.string();
    return number === 1 || number === 2;
  });
  return info;
}

/** Calls `read` for each field of a message. The field is skipped if `read` returns `false`. */
function readMessage(binary: Uint8Array, read: (number: number, reader: BinaryReader) => boolean): void {
  const reader = new BinaryReader(binary);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (!read(number, reader)) reader.skip(wireType, number);
  }
}
