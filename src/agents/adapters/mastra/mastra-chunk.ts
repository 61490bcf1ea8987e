import { file, fromBase64 } from "../../../protocol/index.ts";
import type { AgentLoopOutput } from "../agent-loop-output.ts";
import type { AgentYield } from "../agent-yield.ts";

/** A tool call of a Mastra agent. */
interface MastraToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
}

/** The payloads of the chunks that the adapter reads, by the type of the chunk. `npm run lab -- peers` compares them. */
export interface MastraPayloads {
  readonly "text-delta": { readonly text: string };
  readonly "reasoning-delta": { readonly text: string };
  readonly file: { readonly data: string | Uint8Array; readonly mimeType: string };
  readonly "tool-call": MastraToolCall & { readonly args?: unknown };
  readonly "tool-result": MastraToolCall & { readonly result: unknown };
  readonly "tool-error": MastraToolCall & { readonly error?: unknown };
  readonly "tool-call-approval": MastraToolCall & { readonly args: unknown };
  readonly "tool-call-suspended": MastraToolCall & { readonly suspendPayload: unknown };
  readonly tripwire: { readonly reason: string };
  readonly error: { readonly error: unknown };
  readonly "step-start": {
    /** Start of the model call in milliseconds since 1970. */
    readonly startedAt?: number | undefined;
    readonly inputMessages?: unknown;
    readonly request: { readonly body?: unknown };
  };
  readonly "step-finish": {
    readonly stepResult: { readonly reason: string };
    readonly output: {
      readonly usage: {
        readonly inputTokens?: number | undefined;
        readonly cachedInputTokens?: number | undefined;
        readonly outputTokens?: number | undefined;
      };
    };
    readonly metadata: Readonly<Record<string, unknown>>;
  };
  readonly finish: {
    readonly output: {
      readonly usage: {
        readonly inputTokens?: number | undefined;
        readonly outputTokens?: number | undefined;
      };
    };
  };
}

/** A chunk of the stream of a Mastra agent. The adapter ignores chunks of other types. */
export type MastraChunk = {
  readonly [Type in keyof MastraPayloads]: {
    readonly type: Type;
    readonly runId: string;
    readonly payload: MastraPayloads[Type];
  };
}[keyof MastraPayloads];

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
