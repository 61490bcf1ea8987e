import type { IncomingHttpHeaders } from "node:http2";
import type { GrpcMethod, GrpcService } from "./grpc-service.ts";
import { parseGrpcTimeout } from "./parse-grpc-timeout.ts";

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
