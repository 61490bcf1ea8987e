import type { OutgoingHttpHeaders } from "node:http2";
import { status as GRPC_STATUS_CODES } from "@grpc/grpc-js";
import type { GrpcError } from "../index.ts";
import { toBuffer } from "./field-codecs.ts";
import { encodeRpcStatus, truncateStatusMessage } from "./rpc-status.ts";

/** Status and metadata of a failed gRPC call. */
export interface GrpcFailure extends GrpcError {
  /** Response metadata that accompanies the status of a failed call. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Trailers of a successful call. */
export const SUCCESS_TRAILERS: OutgoingHttpHeaders = { "grpc-status": 0, "grpc-message": "OK" };

/** Trailers of a call whose deadline has expired. A2A has no error for a deadline. */
export const DEADLINE_TRAILERS: OutgoingHttpHeaders = {
  "grpc-status": GRPC_STATUS_CODES.DEADLINE_EXCEEDED,
  "grpc-message": "Deadline exceeded",
};

/** HTTP headers of a response without metadata. `grpc-accept-encoding` tells clients to compress nothing. */
const RESPONSE_HEADERS: OutgoingHttpHeaders = {
  ":status": 200,
  "content-type": "application/grpc+proto",
  "grpc-accept-encoding": "identity",
};

/** Returns the HTTP headers of a response with metadata. */
export function buildResponseHeaders(
  metadata: Readonly<Record<string, string>> | undefined,
): OutgoingHttpHeaders {
  return metadata ? { ...RESPONSE_HEADERS, ...replaceInvalidCharacters(metadata) } : RESPONSE_HEADERS;
}

/** Returns the trailers of a failed call, with the error details in binary metadata (A2A §10.6). */
export function buildFailureTrailers({
  status,
  message,
  details,
  headers,
}: GrpcFailure): OutgoingHttpHeaders {
  const code = GRPC_STATUS_CODES[status];
  const rpcStatus = toBuffer(encodeRpcStatus({ code, message, details }));
  return {
    "grpc-status": code,
    "grpc-message": encodeURI(truncateStatusMessage(message)),
    "grpc-status-details-bin": rpcStatus.toString("base64"),
    ...replaceInvalidCharacters(headers),
  };
}

/** Replaces the characters of metadata values that gRPC does not allow. */
function replaceInvalidCharacters(metadata: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name, value.replace(/[^ -~]/g, "?")]),
  );
}
