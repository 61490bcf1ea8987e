import { parseTraceContext } from "../../protocol/index.ts";
import { runInTraceScope } from "../../telemetry/index.ts";
import type { HttpRequest } from "../http-exchange.ts";

/** Runs `work` in the trace of a request, so that the calls of a mounted handler continue the trace. */
export function runInTraceOfRequest<T>(request: Pick<HttpRequest, "header">, work: () => T): T {
  const context = parseTraceContext(request.header("traceparent"), request.header("tracestate"));
  return context ? runInTraceScope({ context }, work) : work();
}
