import type { ModelMessage, TextStreamPart, ToolSet } from "ai";
import type { Run } from "../../../engine/index.ts";
import type { JsonValue } from "../../../protocol/index.ts";
import { toJsonValue } from "../to-json-value.ts";

/**
 * Passes on the parts of a stream, and reports its model calls and tool calls to the run. The prompt of the first call
 * is the conversation. The prompts of later calls also contain the replies and tool results that precede them.
 */
export async function* reportAiSdkCalls(
  parts: AsyncIterable<TextStreamPart<ToolSet>>,
  reportCall: NonNullable<Run["reportCall"]>,
  messages: readonly ModelMessage[],
): AsyncGenerator<TextStreamPart<ToolSet>, void, undefined> {
  const conversation: JsonValue[] = messages.map((message) => toJsonValue(message));
  const startsOfTools = new Map<string, number>();
  let stepStartMs = performance.now();
  let reply: JsonValue[] = [];
  let text = "";
  for await (const part of parts) {
    if (part.type === "start-step") {
      stepStartMs = performance.now();
      [reply, text] = [[], ""];
    } else if (part.type === "text-delta") text += part.text;
    else if (part.type === "tool-call") {
      startsOfTools.set(part.toolCallId, performance.now());
      reply.push({ tool: part.toolName, input: toJsonValue(part.input) });
    } else if (part.type === "tool-result" && part.preliminary !== true) {
      const result = toJsonValue(part.output);
      reportTool(part, { result });
      conversation.push({ role: "tool", tool: part.toolName, result });
    } else if (part.type === "tool-error") reportTool(part, { error: String(part.error) });
    else if (part.type === "finish-step") {
      if (text !== "") reply.unshift({ text });
      reportCall({
        kind: "model",
        model: part.response.modelId,
        prompt: [...conversation],
        reply,
        finishReason: part.finishReason,
        inputTokens: part.usage.inputTokens,
        // Models of earlier versions of the AI SDK have no details.
        cachedInputTokens: (part.usage as Partial<typeof part.usage>).inputTokenDetails?.cacheReadTokens,
        outputTokens: part.usage.outputTokens,
        // The step also contains the calls of tools.
        durationMs: part.performance?.responseTimeMs ?? performance.now() - stepStartMs,
      });
      conversation.push({ role: "assistant", content: reply });
    }
    yield part;
  }

  function reportTool(
    {
      toolCallId,
      toolName,
      input,
    }: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown },
    outcome: { readonly result?: JsonValue; readonly error?: string },
  ): void {
    const durationMs = performance.now() - (startsOfTools.get(toolCallId) ?? performance.now());
    reportCall({ kind: "tool", tool: toolName, arguments: toJsonValue(input), durationMs, ...outcome });
  }
}
