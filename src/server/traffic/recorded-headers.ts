import type { HttpRequest } from "../http-exchange.ts";

/** Request headers that the record contains. */
const RECORDED_HEADERS = [
  "a2a-version",
  "a2a-extensions",
  "x-a2a-extensions",
  "accept",
  "content-type",
  "idempotency-key",
  "last-event-id",
  "traceparent",
  "tracestate",
  "user-agent",
];

/** Returns the headers of a request that the record contains. */
export function selectRecordedHeaders(request: Pick<HttpRequest, "header">): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of RECORDED_HEADERS) {
    const value = request.header(name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}
