import { isStreamingOperation, type OperationName } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";
import type { MessageCodec } from "./message-codec.ts";

/**
 * A method of a gRPC service, with its path and its message codecs.
 */
export interface GrpcMethod {
  readonly operation: OperationName;
  /** HTTP/2 path of the gRPC method, in the form `/package.Service/Method`. */
  readonly path: string;
  readonly isStreaming: boolean;
  readonly request: MessageCodec;
  /** Codec for the response message, or for each message in a response stream. */
  readonly response: MessageCodec;
}

/** The gRPC service of one protocol version. */
export interface GrpcService {
  readonly version: ProtocolVersion;
  readonly name: string;
  /** Methods by operation. Some protocol versions do not have all operations. */
  readonly methods: Readonly<Partial<Record<OperationName, GrpcMethod>>>;
}

/**
 * Creates the definition of a gRPC service. Each element of `rows` contains the method name, the request
 * message, and the response message of one operation.
 */
export function defineGrpcService(
  version: ProtocolVersion,
  name: string,
  message: (name: string) => MessageCodec,
  rows: Readonly<Partial<Record<OperationName, readonly [string, string, string]>>>,
): GrpcService {
  const methods: Partial<Record<OperationName, GrpcMethod>> = {};
  for (const [operation, [method, request, response]] of Object.entries(rows) as [
    OperationName,
    readonly [string, string, string],
  ][]) {
    methods[operation] = {
      operation,
      path: `/${name}/${method}`,
      isStreaming: isStreamingOperation(operation),
      request: message(request),
      response: message(response),
    };
  }
  return { version, name, methods };
}
