import { getSharedRedactor } from "../../observe/logging/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { getHttpAndGrpcErrorStatus } from "../../wire/index.ts";
import type { ConsoleErrorBody } from "../console-api/index.ts";

/**
 * Headers of all responses of the API. Pages of other origins can neither read the responses nor show them in a frame.
 */
export const API_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

export function createJsonResponse(body: unknown, status = 200): Response {
  return createJsonTextResponse(JSON.stringify(body), status);
}

/** Creates a response from JSON text. */
export function createJsonTextResponse(text: string, status = 200): Response {
  return new Response(text, { status, headers: { ...API_HEADERS, "content-type": "application/json" } });
}

export function createEmptyResponse(): Response {
  return new Response(null, { status: 204, headers: API_HEADERS });
}

export function toErrorBody({ reason, message, violations }: A2AError): ConsoleErrorBody {
  return {
    error: {
      reason,
      message: getSharedRedactor().redactText(message),
      ...(violations?.length ? { details: violations.map((one) => ({ ...one })) } : {}),
    },
  };
}

/** Creates the response for an error, with the HTTP status of the A2A error. */
export function createErrorResponse(thrown: unknown): Response {
  const error = A2AError.from(thrown);
  const { http } = getHttpAndGrpcErrorStatus(error.reason, "1.0.1");
  const response = createJsonResponse(toErrorBody(error), http);
  // A browser must not ask for a password: the page asks for the credentials.
  if (http === 401) response.headers.set("www-authenticate", `Bearer realm="console"`);
  if (error.retryAfter !== undefined)
    response.headers.set("retry-after", String(Math.ceil(error.retryAfter)));
  return response;
}
