import type { Observer } from "../engine/index.ts";
import type { HttpRequest } from "./http-exchange.ts";

/** Calls `respond` and reports the status and the duration of the response to the observer. */
export async function reportRequest<Reply>(
  observer: Pick<Observer, "onRequest">,
  request: Pick<HttpRequest, "method" | "path" | "header">,
  getStatus: (reply: Reply) => number | string,
  respond: () => Promise<Reply>,
): Promise<Reply> {
  if (!observer.onRequest) return respond();
  const startMs = performance.now();
  const reply = await respond();
  const { method, path } = request;
  observer.onRequest({
    method,
    path,
    status: getStatus(reply),
    durationMs: performance.now() - startMs,
    traceparent: request.header("traceparent"),
  });
  return reply;
}

/** Returns the status of an HTTP response. */
export function getHttpStatus({ status }: { readonly status: number }): number {
  return status;
}
