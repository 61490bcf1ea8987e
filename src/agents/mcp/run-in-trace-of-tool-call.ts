import { parseTraceContext } from "../../protocol/index.ts";
import { runInTraceScope } from "../../observe/telemetry/index.ts";

/** Runs `work` in the trace of a tool call, which the host sends in `_meta` (SEP-414). */
export function runInTraceOfToolCall<T>(
  meta: Readonly<Record<string, unknown>> | undefined,
  work: () => T,
): T {
  const { traceparent, tracestate } = meta ?? {};
  const context =
    typeof traceparent === "string"
      ? parseTraceContext(traceparent, typeof tracestate === "string" ? tracestate : undefined)
      : undefined;
  return context ? runInTraceScope({ context }, work) : work();
}
