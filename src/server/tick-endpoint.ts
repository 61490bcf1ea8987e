import { A2AError } from "../protocol/index.ts";
import { assertHttpMethodAllowed } from "./bindings/method-not-allowed-error.ts";
import type { DueWorkReport } from "./due-work.ts";
import { createJsonReply, type HttpReply, type HttpRequest } from "./http-exchange.ts";
import { isSameSecret } from "./is-same-secret.ts";

const MAX_SECONDS = 3600;

interface TickEndpoint {
  /** Bearer token of the endpoint. */
  readonly token: string;
  readonly processDueWork: (timeLimitMs: number | undefined) => Promise<DueWorkReport>;
}

/**
 * Replies to `POST /tick`. A scheduler calls the endpoint, so that a server that
 * runs only during requests processes its waiting turns and push notifications. The query `?seconds=20` limits the time.
 */
export function handleTickRequest(
  request: HttpRequest,
  { token, processDueWork }: TickEndpoint,
): Promise<HttpReply> {
  assertHttpMethodAllowed(request, ["POST"]);
  if (!isSameSecret(request.header("authorization") ?? "", `Bearer ${token}`))
    throw new A2AError("UNAUTHENTICATED", "POST /tick requires the bearer token of the option tickToken.");
  return processDueWork(parseTimeLimitMs(request.query)).then((report) =>
    createJsonReply(200, JSON.stringify(report), { "cache-control": "no-store" }),
  );
}

function parseTimeLimitMs(query: string): number | undefined {
  const text = new URLSearchParams(query).get("seconds");
  if (text === null) return undefined;
  const seconds = Number(text);
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds * 1000;
  const description = `is ${JSON.stringify(text.slice(0, 20))}; use a number of seconds up to ${MAX_SECONDS}`;
  throw A2AError.invalidParams([{ field: "seconds", description }]);
}
