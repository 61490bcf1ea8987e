import type { CallToolResult } from "@modelcontextprotocol/client";
import { type TraceHeaders, toTraceHeaders } from "../../protocol/index.ts";
import {
  buildMcpToolCallAttributes,
  getCurrentTraceScope,
  getTracer,
} from "../../observe/telemetry/index.ts";

/** Members of a tool call that carry the trace. The keys in `_meta` have no prefix (SEP-414). */
interface TraceMeta {
  readonly _meta?: TraceHeaders & Record<string, unknown>;
}

/**
 * Calls a tool in a span, and passes the trace to `callTool`. Outside of agents, and without OpenTelemetry, the call has
 * no trace.
 */
export async function callToolInSpan(
  tool: string,
  callTool: (traceMeta: TraceMeta) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const tracer = getTracer();
  if (!tracer.records && !getCurrentTraceScope()) return await callTool({});
  const span = tracer.startSpan({
    name: `tools/call ${tool}`,
    kind: "client",
    attributes: () => buildMcpToolCallAttributes(tool),
  });
  try {
    const result = await span.run(() =>
      span.runRequest(() => callTool({ _meta: { ...toTraceHeaders(span.context) } })),
    );
    span.end(result.isError ? { type: "tool_error" } : undefined);
    return result;
  } catch (error) {
    span.end({ type: error instanceof Error ? error.name : "_OTHER" });
    throw error;
  }
}
