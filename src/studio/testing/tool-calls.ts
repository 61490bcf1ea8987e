import type { AgentCallReport } from "../../engine/index.ts";
import { isObject, type JsonValue, type Part } from "../../protocol/index.ts";

/** A call of a tool during a turn. */
export interface ToolCall {
  readonly tool: string;
  readonly arguments?: JsonValue | undefined;
  readonly result?: JsonValue | undefined;
  /** The server of the tool, for example an MCP server. */
  readonly server?: string | undefined;
  readonly error?: string | undefined;
}

/**
 * Returns the tool calls of a turn. ADK agents of every language send their calls as parts, in the order in which the
 * model made them. Other agents in the process report their calls when the calls end.
 */
export function listToolCalls(
  parts: readonly Part[],
  reports: readonly AgentCallReport[] | undefined,
): readonly ToolCall[] | undefined {
  const sent = listCallParts(parts);
  if (sent.length > 0) return sent;
  return reports?.flatMap((report) => {
    if (report.kind !== "tool") return [];
    const { tool, arguments: input, result, server, error } = report;
    return [{ tool, arguments: input, result, server, error }];
  });
}

function listCallParts(parts: readonly Part[]): ToolCall[] {
  const calls: ToolCall[] = [];
  const indexById = new Map<string, number>();
  for (const part of parts) {
    const type = part.metadata?.["adk_type"];
    if (!("data" in part) || !isObject(part.data)) continue;
    const { id, name, args, response } = part.data;
    if (typeof name !== "string") continue;
    const index = typeof id === "string" ? indexById.get(id) : undefined;
    if (type === "function_call") {
      const call = { tool: name, arguments: args ?? {} };
      // The question of a turn repeats the call that waits for an answer.
      if (index !== undefined) calls[index] = { ...calls[index], ...call };
      else {
        if (typeof id === "string") indexById.set(id, calls.length);
        calls.push(call);
      }
    } else if (type === "function_response" && index !== undefined)
      calls[index] = { ...(calls[index] as ToolCall), result: response };
  }
  return calls;
}
