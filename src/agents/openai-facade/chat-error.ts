import type { A2AError } from "../../protocol/index.ts";
import { getHttpAndGrpcErrorStatus } from "../../wire/index.ts";

/** An error in the format of OpenAI's API. */
export interface ChatError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

/** OpenAI's error type for each HTTP status; 4xx statuses without an entry are request errors. */
const ERROR_TYPES_BY_HTTP_STATUS: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

const toChatErrorCodeFromA2AReason = (reason: string): string =>
  reason === "UNAUTHENTICATED" ? "invalid_api_key" : reason.toLowerCase();

/** Converts an A2A error into an OpenAI error. */
export function toChatError({ reason, message, violations }: A2AError): ChatError {
  const { http } = getHttpAndGrpcErrorStatus(reason, "1.0.1");
  const type = ERROR_TYPES_BY_HTTP_STATUS[http] ?? (http >= 500 ? "server_error" : "invalid_request_error");
  return { message, type, param: violations[0]?.field ?? null, code: toChatErrorCodeFromA2AReason(reason) };
}

/**
 * Creates an error response. OpenAI clients by default retry requests that fail with status 409, 429, or 5xx.
 * The header `x-should-retry` prevents a retry unless the request had no effect.
 */
export function createA2AErrorResponse(error: A2AError): Response {
  const { http } = getHttpAndGrpcErrorStatus(error.reason, "1.0.1");
  const headers = new Headers({ "content-type": "application/json" });
  headers.set("x-should-retry", `${http === 429 || http === 503}`);
  if (http === 401) headers.set("www-authenticate", "Bearer");
  if (error.retryAfter !== undefined) headers.set("retry-after", `${Math.ceil(error.retryAfter)}`);
  return new Response(JSON.stringify({ error: toChatError(error) }), { status: http, headers });
}
