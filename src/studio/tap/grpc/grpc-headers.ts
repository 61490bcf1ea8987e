import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { formatGrpcStatus } from "./grpc-status.ts";

/** Returns the status and the message of a failed call, or `undefined` if the call succeeded. */
export function findGrpcError(trailers: IncomingHttpHeaders): string | undefined {
  const { "grpc-status": status = "0", "grpc-message": message = "" } = trailers;
  if (String(status) === "0") return undefined;
  return `${formatGrpcStatus(Number(status))}: ${decodeGrpcMessage(String(message))}`;
}

/** Decodes the percent-encoding of `grpc-message`, unless it is invalid. */
function decodeGrpcMessage(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}

/** Returns the headers without the pseudo-headers of HTTP/2. */
export function toRecordedGrpcHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const recorded: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (!name.startsWith(":") && value !== undefined)
      recorded[name] = Array.isArray(value) ? value.join(", ") : value;
  return recorded;
}

/** Returns a copy that Node.js can send again, because received headers have a symbol with sensitive names. */
export function withoutConnectionHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers));
}
