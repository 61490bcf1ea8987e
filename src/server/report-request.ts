import type { Observer } from "../engine/index.ts";
import type { HttpRequest } from "./http-exchange.ts";

/** Calls `respond` and reports the status and the duration of the response to the observer. */
export async function reportRequest<Reply>(
  observer: Pick<Observer, "onRequest">,
  { method, path }: Pick<HttpRequest, "method" | "path">,
  getStatus: (reply: Reply) => number | string,
  respond: () => Promise<Reply>,
): Promise<Reply> {
  if (!observer.onRequest) return respond();
  const startMs = performance.now();
  const reply = await respond();
  observer.onRequest({ method, path, status: getStatus(reply), durationMs: performance.now() - startMs });
  return reply;
}

/** Returns the status of an HTTP response. */
export function getHttpStatus({ status }: { readonly status: number }): number {
  return status;
}
