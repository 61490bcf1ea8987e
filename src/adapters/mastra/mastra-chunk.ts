import type { ChunkType } from "@mastra/core/stream";
import { file, fromBase64 } from "../../protocol/index.ts";
import type { AgentLoopOutput } from "../agent-loop-output.ts";
import type { AgentYield } from "../agent-yield.ts";

/** A chunk of the stream of a Mastra agent. */
export type MastraChunk = ChunkType<unknown>;

/** Converts a chunk of a Mastra stream into values that a generator agent yields. */
export function* convertMastraChunk(
  chunk: MastraChunk,
  output: AgentLoopOutput,
): Generator<AgentYield, void, undefined> {
  if (chunk.type === "text-delta") yield* output.emitText(chunk.payload.text);
  else if (chunk.type === "reasoning-delta") yield* output.emitReasoning(chunk.payload.text);
  else if (chunk.type === "file") {
    const { data, mimeType: mediaType } = chunk.payload;
    yield file(typeof data === "string" ? fromBase64(data) : data, { mediaType });
  } else if (chunk.type === "tool-call") {
    const { toolCallId, toolName, args: input } = chunk.payload;
    yield* output.emitToolCall({ toolCallId, toolName, input });
  } else if (chunk.type === "tool-result") {
    const { toolCallId, toolName, result } = chunk.payload;
    yield* output.emitToolResult(toolCallId, toolName, result);
  } else if (chunk.type === "tool-error") {
    yield* output.emitToolError(chunk.payload.toolCallId, chunk.payload.toolName);
  } else if (chunk.type === "finish") {
    const { inputTokens = 0, outputTokens = 0 } = chunk.payload.output.usage;
    output.setUsage({ inputTokens, outputTokens });
  }
}
