import { isObject, type JsonValue, type Part } from "../../../protocol/index.ts";

/** A call of a tool. It is complete with a result, an error, or the duration from the record of our server. */
export interface ToolCall {
  id?: string | undefined;
  readonly name: string;
  arguments?: JsonValue | undefined;
  result?: JsonValue | undefined;
  error?: string | undefined;
  durationMs?: number | undefined;
}

/** What a message, or the record of our server, contains about a call. */
export type ToolReport = Omit<ToolCall, "name"> & { readonly name?: string | undefined };

/** Decodes a tool call or its result, as the adapters of Colloquy and ADK agents send it. */
export function decodeToolReport({ metadata, ...part }: Part): ToolReport | undefined {
  if (!("data" in part) || !isObject(part.data)) return undefined;
  const { data } = part;
  const type = metadata?.["adk_type"] ?? data["type"];
  const id = data["toolCallId"] ?? data["id"];
  const name = data["toolName"] ?? data["name"];
  if (typeof id !== "string" || data["approvalId"] !== undefined) return undefined;
  const call = { id, name: typeof name === "string" ? name : undefined };
  if (type === "tool-call" || type === "function_call")
    return { ...call, arguments: data["input"] ?? data["args"] ?? {} };
  if (type === "tool-result" || type === "function_response")
    return { ...call, result: data["output"] ?? data["response"] ?? null };
  return type === "tool-error" ? { ...call, error: "failed" } : undefined;
}
