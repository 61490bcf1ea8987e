import type { Run } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { getCurrentTraceScope } from "../../observe/telemetry/index.ts";
import type { McpToolResult } from "./mcp-tool-result.ts";

/** A tool call that begins. */
interface ReportedToolCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Returns the name of the MCP server, which is known after the connection. */
  readonly getServerName: () => string;
  /** Reports to the server of the running agent. Default: the reporter of the running agent. */
  readonly reportCall?: Run["reportCall"];
}

/**
 * Performs a tool call, and reports it to the server of the running agent, for its traffic record. Outside of agents,
 * and without a record, the call is not reported.
 */
export async function performReportedToolCall(
  { tool, arguments: args, getServerName, reportCall }: ReportedToolCall,
  perform: () => Promise<McpToolResult>,
): Promise<McpToolResult> {
  const report = reportCall ?? getCurrentTraceScope()?.task?.reportToolCall;
  if (!report) return await perform();
  const startMs = performance.now();
  const reportOutcome = (outcome: Pick<Parameters<typeof report>[0], "result" | "error">): void =>
    report({
      kind: "tool",
      tool,
      server: getServerName(),
      arguments: args,
      durationMs: performance.now() - startMs,
      ...outcome,
    });
  try {
    const result = await perform();
    const { data, text, isError } = result;
    reportOutcome(isError ? { error: text } : { result: data ?? text });
    return result;
  } catch (error) {
    reportOutcome({ error: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}
