import { isStreamingOperation, type OperationName } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";
import type { MessageCodec } from "./message-codec.ts";

/** A method of a service: how an operation is called there, and with what. */
export interface GrpcMethod {
  readonly operation: OperationName;
  /** `/package.Service/Method`, the path of its HTTP/2 requests. */
  readonly path: string;
  readonly isStreaming: boolean;
  readonly request: MessageCodec;
  /** The answer, or one event of it. */
  readonly response: MessageCodec;
}

/** A version of the protocol as a gRPC service. */
export interface GrpcService {
  readonly version: ProtocolVersion;
  readonly name: string;
  /** A version may not have every operation. */
  readonly methods: Readonly<Partial<Record<OperationName, GrpcMethod>>>;
}

/** `rows`: the method's name, its request and its response, by operation. */
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
