import type { ModelMessage, TextStreamPart, ToolSet } from "ai";
import type { JsonValue } from "../../../protocol/index.ts";
import { CallTracker, type ReportCall } from "../call-tracker.ts";
import { toJsonValue } from "../to-json-value.ts";

/**
 * Passes on the parts of a stream, and reports its model calls and tool calls to the run. The prompt of the first call
 * is the conversation. The prompts of later calls also contain the replies and tool results that precede them.
 */
export async function* reportAiSdkCalls(
  parts: AsyncIterable<TextStreamPart<ToolSet>>,
  reportCall: ReportCall,
  messages: readonly ModelMessage[],
): AsyncGenerator<TextStreamPart<ToolSet>, void, undefined> {
  const conversation: JsonValue[] = messages.map((message) => toJsonValue(message));
  const calls = new CallTracker(reportCall);
  let reply: JsonValue[] = [];
  let text = "";
  for await (const part of parts) {
    if (part.type === "start-step") {
      calls.startModel({ model: "unknown", prompt: [...conversation] });
      [reply, text] = [[], ""];
    } else if (part.type === "text-delta") text += part.text;
    else if (part.type === "tool-call") {
      const input = toJsonValue(part.input);
      calls.startTool(part.toolCallId, { tool: part.toolName, arguments: input });
      reply.push({ tool: part.toolName, input });
    } else if (part.type === "tool-result" && part.preliminary !== true) {
      const result = toJsonValue(part.output);
      endTool(part, { result });
      conversation.push({ role: "tool", tool: part.toolName, result });
    } else if (part.type === "tool-error") endTool(part, { error: String(part.error) });
    else if (part.type === "finish-step") {
      if (text !== "") reply.unshift({ text });
      calls.endModel(
        {
          model: part.response.modelId,
          reply,
          finishReason: part.finishReason,
          inputTokens: part.usage.inputTokens,
          // Models of earlier versions of the AI SDK have no details.
          cachedInputTokens: (part.usage as Partial<typeof part.usage>).inputTokenDetails?.cacheReadTokens,
          outputTokens: part.usage.outputTokens,
        },
        // The step also contains the calls of tools.
        { durationMs: part.performance?.responseTimeMs },
      );
      conversation.push({ role: "assistant", content: reply });
    }
    yield part;
  }

  function endTool(
    {
      toolCallId,
      toolName,
      input,
    }: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown },
    outcome: { readonly result?: JsonValue; readonly error?: string },
  ): void {
    calls.endTool(toolCallId, outcome, { tool: toolName, arguments: toJsonValue(input) });
  }
}
