import type { IncomingHttpHeaders } from "node:http2";
import type { GrpcMethod, GrpcService } from "./grpc-service.ts";

/** A method of a service. */
export interface RoutedGrpcMethod {
  readonly service: GrpcService;
  readonly method: GrpcMethod;
}

/** The decoded headers of a call, or the reason why the listener does not handle the call. */
export type RoutedGrpcRequest =
  | { readonly method: RoutedGrpcMethod; readonly timeoutMs: number | undefined }
  /** The request is not gRPC. The listener replies with an HTTP status. */
  | { readonly httpStatus: number }
  /** The listener replies with a gRPC status. */
  | { readonly grpcStatus: "UNIMPLEMENTED" | "INVALID_ARGUMENT"; readonly message: string };

/** Media types of protobuf messages over gRPC. Parameters and other formats, such as gRPC-Web, are not supported. */
const GRPC_MEDIA_TYPE = /^application\/grpc(\+proto)?(\s*;.*)?$/i;

/** Maximum number of characters in the names and values of all headers. Node.js does not enforce its setting. */
const MAX_HEADER_LENGTH = 16 * 1024;

/** Decodes the headers of a request without any further effects. */
export function routeGrpcRequest(
  headers: IncomingHttpHeaders,
  methodsByPath: ReadonlyMap<string, RoutedGrpcMethod>,
): RoutedGrpcRequest {
  if (headers[":method"] !== "POST") return { httpStatus: 405 };
  if (!GRPC_MEDIA_TYPE.test(headers["content-type"] ?? "")) return { httpStatus: 415 };
  if (measureHeaderLength(headers) > MAX_HEADER_LENGTH) return { httpStatus: 431 };
  const method = methodsByPath.get(headers[":path"] ?? "");
  if (!method) return { grpcStatus: "UNIMPLEMENTED", message: "This server does not have the gRPC method." };
  const timeout = headers["grpc-timeout"];
  if (timeout === undefined) return { method, timeoutMs: undefined };
  const timeoutMs = typeof timeout === "string" ? parseGrpcTimeout(timeout) : undefined;
  if (timeoutMs !== undefined) return { method, timeoutMs };
  return {
    grpcStatus: "INVALID_ARGUMENT",
    message: 'The grpc-timeout is invalid; send a value such as "10S".',
  };
}

function measureHeaderLength(headers: IncomingHttpHeaders): number {
  let length = 0;
  for (const name in headers) length += name.length + (headers[name]?.length ?? 0);
  return length;
}

const MILLISECONDS_BY_UNIT: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** Largest delay of a timer of JavaScript, in milliseconds (24.8 days). */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Parses the value of a `grpc-timeout` header. Returns the timeout in milliseconds, limited to the longest delay of a
 * timer. Returns `undefined` if the value is not a number of at most eight digits with a unit.
 */
export function parseGrpcTimeout(value: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  const unitMs = MILLISECONDS_BY_UNIT[unit];
  if (digits === undefined || unitMs === undefined) return undefined;
  return Math.min(Math.ceil(Number(digits) * unitMs), MAX_TIMER_MS);
}
