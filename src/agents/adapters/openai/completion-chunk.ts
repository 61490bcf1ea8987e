import type { JsonObject } from "../../../protocol/index.ts";

/** The fields that the adapter reads in a streamed chunk or a complete response. */
interface CompletionChunk {
  readonly text: string;
  readonly thought: string;
  readonly toolCalls: readonly ToolCallDelta[];
  readonly finishReason: string | undefined;
  readonly usage: JsonObject | undefined;
}

/** A fragment of one tool call in a completion chunk. */
export interface ToolCallDelta {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** A fragment of the tool arguments, as JSON text. */
  readonly input: string;
}

/** Decodes a chunk. Throws an error if the endpoint reports a failure in the middle of a stream. */
export function decodeChunk(value: unknown): CompletionChunk {
  const { error, choices, usage } = toRecord(value);
  if (error !== undefined && error !== null) {
    const message = toRecord(error)["message"] ?? error;
    throw new Error(
      `The endpoint reported an error during the stream: ${typeof message === "string" ? message : JSON.stringify(message)}`,
    );
  }
  const choice = toRecord(toArray(choices)[0]);
  const delta = toRecord(choice["delta"] ?? choice["message"]);
  const tokenCounts = toRecord(usage);
  const { cached_tokens: cachedTokens } = toRecord(tokenCounts["prompt_tokens_details"]);
  return {
    text: toStringOrEmpty(delta["content"]) + toStringOrEmpty(delta["refusal"]),
    // Endpoints use different field names for reasoning.
    thought: toStringOrEmpty(delta["reasoning_content"]) || toStringOrEmpty(delta["reasoning"]),
    toolCalls: toArray(delta["tool_calls"]).map((call, position) => {
      const { index, id, function: toolFunction } = toRecord(call);
      const { name, arguments: input } = toRecord(toolFunction);
      return {
        index: typeof index === "number" ? index : position,
        id: toStringOrEmpty(id),
        name: toStringOrEmpty(name),
        input: toStringOrEmpty(input),
      };
    }),
    finishReason: typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : undefined,
    usage:
      Object.keys(tokenCounts).length === 0
        ? undefined
        : {
            inputTokens: toNumberOrNull(tokenCounts["prompt_tokens"]),
            outputTokens: toNumberOrNull(tokenCounts["completion_tokens"]),
            totalTokens: toNumberOrNull(tokenCounts["total_tokens"]),
            ...(typeof cachedTokens === "number" && { cachedInputTokens: cachedTokens }),
          },
  };
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function toArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function toStringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function toNumberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
