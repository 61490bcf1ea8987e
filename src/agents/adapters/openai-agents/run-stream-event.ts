import type { RunStreamEvent } from "@openai/agents";
import { isObject, type JsonValue } from "../../../protocol/index.ts";
import type { AgentLoopOutput, ModelToolCall } from "../agent-loop-output.ts";
import type { AgentYield } from "../agent-yield.ts";

/** The start of the text that the SDK sends to the model instead of the result of a failed tool. */
const TOOL_ERROR_PREFIX = "An error occurred while running the tool.";

/** Converts an event of the SDK's run stream into values that a generator agent yields. */
export function* convertRunStreamEvent(
  event: RunStreamEvent,
  output: AgentLoopOutput,
): Generator<AgentYield, void, undefined> {
  if (event.type === "raw_model_stream_event") {
    if (event.data.type === "output_text_delta") yield* output.emitText(event.data.delta);
    else if (event.data.type === "model") yield* output.emitReasoning(getReasoningDelta(event.data.event));
  } else if (event.type === "run_item_stream_event") {
    const item = decodeToolItem(event.item.rawItem);
    const { toolCallId, toolName } = item;
    if (event.name === "tool_called") yield* output.emitToolCall(item);
    else if (event.name === "tool_output") {
      if (isToolErrorText(item.output)) yield* output.emitToolError(toolCallId, toolName);
      else yield* output.emitToolResult(toolCallId, toolName, item.output);
    }
  }
}

/** Returns the reasoning in an event of the Responses API or in a chunk of the chat API. */
function getReasoningDelta(event: unknown): string {
  if (!isObject(event)) return "";
  const { type, delta, choices } = event;
  if (typeof type === "string" && /^response\.reasoning\w*\.delta$/.test(type)) return toText(delta);
  const chatDelta: unknown = Array.isArray(choices) && isObject(choices[0]) ? choices[0]["delta"] : undefined;
  const chatReasoning = isObject(chatDelta) ? (chatDelta["reasoning"] ?? chatDelta["reasoning_content"]) : "";
  return toText(chatReasoning);
}

/** Decodes a call or a result of a tool. The id of a hosted tool call is the id of its item. */
export function decodeToolItem(rawItem: unknown): ModelToolCall & { readonly output: unknown } {
  const { callId, id, name, type, arguments: input, output } = isObject(rawItem) ? rawItem : {};
  return {
    toolCallId: toText(callId) || toText(id),
    toolName: toText(name) || toText(type),
    input: parseJsonOrText(input),
    output: isObject(output) && output["type"] === "text" ? output["text"] : output,
  };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns whether the output of a tool is the text that the SDK sends to the model instead of the result. */
export function isToolErrorText(toolOutput: unknown): boolean {
  return typeof toolOutput === "string" && toolOutput.startsWith(TOOL_ERROR_PREFIX);
}

function parseJsonOrText(value: unknown): JsonValue {
  if (typeof value !== "string" || value === "") return {};
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    return value;
  }
}
