import { isObject, type JsonValue } from "../../../protocol/index.ts";
import { CallTracker, describeCallError, type ReportCall } from "../call-tracker.ts";
import { toJsonValue } from "../to-json-value.ts";
import type { MastraChunk, MastraPayloads } from "./mastra-chunk.ts";

/** What the stream has shown of the reply of a model. */
interface PartialReply {
  /** Time of the last chunk of the model. Mastra ends a step only after the tools of the step. */
  lastChunkMs: number;
  text: string;
  readonly toolCalls: JsonValue[];
}

/** Reports the model calls and tool calls of one run, which Mastra shows in the stream of the run. */
export class MastraCallReporter {
  readonly #calls: CallTracker;
  #reply: PartialReply = { lastChunkMs: 0, text: "", toolCalls: [] };

  constructor(reportCall: ReportCall) {
    this.#calls = new CallTracker(reportCall);
  }

  observe(chunk: MastraChunk): void {
    if (chunk.type === "step-start") this.#startModelCall(chunk.payload);
    else if (chunk.type === "step-finish") this.#endStep(chunk.payload);
    else if (chunk.type === "text-delta") {
      this.#reply.text += chunk.payload.text;
      this.#reply.lastChunkMs = performance.now();
    } else if (chunk.type === "tool-call") {
      const { toolCallId, toolName, args } = chunk.payload;
      const input = toJsonValue(args);
      this.#calls.startTool(toolCallId, { tool: toolName, arguments: input });
      this.#reply.toolCalls.push({ toolCallId, toolName, input });
      this.#reply.lastChunkMs = performance.now();
    } else if (chunk.type === "tool-result")
      this.#endTool(chunk.payload, { result: toJsonValue(chunk.payload.result) });
    else if (chunk.type === "tool-error")
      this.#endTool(chunk.payload, { error: describeCallError(chunk.payload.error) });
  }

  /** Reports a model call whose step has not ended, because the run failed or waits for its user. */
  end(error?: unknown): void {
    this.#endModelCall(error === undefined ? {} : { error: describeCallError(error) });
  }

  #startModelCall({ startedAt, inputMessages, request }: MastraPayloads["step-start"]): void {
    const now = performance.now();
    // The chunk follows the first byte of the model, and states the start on the wall clock.
    const elapsedMs = startedAt === undefined ? 0 : Math.max(0, Date.now() - startedAt);
    const body = parseRequestBody(request.body);
    const model = isObject(body) ? body["model"] : undefined;
    this.#reply = { lastChunkMs: now, text: "", toolCalls: [] };
    this.#calls.startModel(
      { model: typeof model === "string" ? model : "unknown", prompt: toJsonValue(inputMessages ?? body) },
      { startMs: now - elapsedMs },
    );
  }

  #endTool(
    { toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string },
    outcome: { readonly result?: JsonValue; readonly error?: string },
  ): void {
    this.#calls.endTool(toolCallId, outcome, { tool: toolName, arguments: null });
  }

  #endStep({ stepResult, output, metadata }: MastraPayloads["step-finish"]): void {
    const { inputTokens, outputTokens, cachedInputTokens } = output.usage;
    const { modelMetadata: known } = metadata;
    const { modelId, modelProvider: provider } = isObject(known) ? known : {};
    this.#endModelCall({
      ...(typeof modelId === "string" && modelId !== "" ? { model: modelId } : {}),
      ...(typeof provider === "string" ? { provider } : {}),
      finishReason: stepResult.reason,
      inputTokens,
      cachedInputTokens,
      outputTokens,
    });
  }

  #endModelCall(outcome: Parameters<CallTracker["endModel"]>[0]): void {
    const { lastChunkMs, text, toolCalls } = this.#reply;
    const reply = {
      ...(text === "" ? {} : { text }),
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    };
    const hasReply = Object.keys(reply).length > 0;
    this.#calls.endModel({ ...(hasReply ? { reply } : {}), ...outcome }, { endMs: lastChunkMs });
  }
}

function parseRequestBody(body: unknown): unknown {
  if (typeof body !== "string") return body;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return body;
  }
}
