import { isStreaming, type OperationName } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";
import type { MessageType } from "./message.ts";

/** A method of a service: how an operation is called there, and with what. */
export interface Method {
  readonly operation: OperationName;
  /** `/package.Service/Method`, the path of its HTTP/2 requests. */
  readonly path: string;
  readonly streams: boolean;
  readonly request: MessageType;
  /** The answer, or one event of it. */
  readonly response: MessageType;
}

/** A version of the protocol as a gRPC service. */
export interface Service {
  readonly version: ProtocolVersion;
  readonly name: string;
  /** A version may not have every operation. */
  readonly methods: Readonly<Partial<Record<OperationName, Method>>>;
}

/** `rows`: the method's name, its request and its response, by operation. */
export function serviceOf(
  version: ProtocolVersion,
  name: string,
  message: (name: string) => MessageType,
  rows: Readonly<Partial<Record<OperationName, readonly [string, string, string]>>>,
): Service {
  const methods: Partial<Record<OperationName, Method>> = {};
  for (const [operation, [method, request, response]] of Object.entries(rows) as [
    OperationName,
    readonly [string, string, string],
  ][]) {
    methods[operation] = {
      operation,
      path: `/${name}/${method}`,
      streams: isStreaming(operation),
      request: message(request),
      response: message(response),
    };
  }
  return { version, name, methods };
}
