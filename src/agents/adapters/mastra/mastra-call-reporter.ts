import type { Run } from "../../../engine/index.ts";
import { isObject, type JsonValue } from "../../../protocol/index.ts";
import { toJsonValue } from "../to-json-value.ts";
import type { MastraChunk, MastraPayloads } from "./mastra-chunk.ts";

type ReportCall = NonNullable<Run["reportCall"]>;

/** A model call that has begun. */
interface StartedModelCall {
  readonly startMs: number;
  readonly prompt: JsonValue;
  /** Name of the model in the request, or `unknown`. */
  readonly requestedModel: string;
  /** Time of the last chunk of the model. Mastra ends a step only after the tools of the step. */
  lastChunkMs: number;
  text: string;
  readonly toolCalls: JsonValue[];
}

/** Reports the model calls and tool calls of one run, which Mastra shows in the stream of the run. */
export class MastraCallReporter {
  readonly #reportCall: ReportCall;
  readonly #startedTools = new Map<string, { readonly startMs: number; readonly input: JsonValue }>();
  #modelCall: StartedModelCall | undefined;

  constructor(reportCall: ReportCall) {
    this.#reportCall = reportCall;
  }

  observe(chunk: MastraChunk): void {
    if (chunk.type === "step-start") this.#startModelCall(chunk.payload);
    else if (chunk.type === "step-finish") this.#endStep(chunk.payload);
    else if (chunk.type === "text-delta") this.#addText(chunk.payload.text);
    else if (chunk.type === "tool-call") this.#startTool(chunk.payload);
    else if (chunk.type === "tool-result") {
      const { toolCallId, toolName, result } = chunk.payload;
      this.#endTool(toolCallId, toolName, { result: toJsonValue(result) });
    } else if (chunk.type === "tool-error") {
      const { toolCallId, toolName, error } = chunk.payload;
      this.#endTool(toolCallId, toolName, { error: describeError(error) });
    }
  }

  /** Reports a model call whose step has not ended, because the run failed or waits for its user. */
  end(error?: unknown): void {
    const call = this.#modelCall;
    this.#modelCall = undefined;
    if (!call) return;
    this.#reportModelCall(call, {
      model: call.requestedModel,
      ...(error === undefined ? {} : { error: describeError(error) }),
    });
  }

  #startModelCall({ startedAt, inputMessages, request }: MastraPayloads["step-start"]): void {
    const now = performance.now();
    // The chunk follows the first byte of the model, and states the start on the wall clock.
    const elapsedMs = startedAt === undefined ? 0 : Math.max(0, Date.now() - startedAt);
    const body = parseRequestBody(request.body);
    const model = isObject(body) ? body["model"] : undefined;
    this.#modelCall = {
      startMs: now - elapsedMs,
      prompt: toJsonValue(inputMessages ?? body),
      requestedModel: typeof model === "string" ? model : "unknown",
      lastChunkMs: now,
      text: "",
      toolCalls: [],
    };
  }

  #addText(text: string): void {
    if (!this.#modelCall) return;
    this.#modelCall.text += text;
    this.#modelCall.lastChunkMs = performance.now();
  }

  #startTool({ toolCallId, toolName, args }: MastraPayloads["tool-call"]): void {
    const startMs = performance.now();
    const input = toJsonValue(args);
    this.#startedTools.set(toolCallId, { startMs, input });
    this.#modelCall?.toolCalls.push({ toolCallId, toolName, input });
    if (this.#modelCall) this.#modelCall.lastChunkMs = startMs;
  }

  #endTool(toolCallId: string, tool: string, outcome: { result?: JsonValue; error?: string }): void {
    const endMs = performance.now();
    const { startMs = endMs, input = null } = this.#startedTools.get(toolCallId) ?? {};
    this.#startedTools.delete(toolCallId);
    this.#reportCall({ kind: "tool", tool, arguments: input, durationMs: endMs - startMs, ...outcome });
  }

  #endStep({ stepResult, output, metadata }: MastraPayloads["step-finish"]): void {
    const call = this.#modelCall;
    this.#modelCall = undefined;
    if (!call) return;
    const { inputTokens, outputTokens, cachedInputTokens } = output.usage;
    const { modelMetadata: known } = metadata;
    const { modelId, modelProvider: provider } = isObject(known) ? known : {};
    this.#reportModelCall(call, {
      model: typeof modelId === "string" && modelId !== "" ? modelId : call.requestedModel,
      ...(typeof provider === "string" ? { provider } : {}),
      finishReason: stepResult.reason,
      inputTokens,
      cachedInputTokens,
      outputTokens,
    });
  }

  #reportModelCall(
    { startMs, lastChunkMs, prompt, text, toolCalls }: StartedModelCall,
    outcome: Omit<Extract<Parameters<ReportCall>[0], { kind: "model" }>, "kind" | "durationMs">,
  ): void {
    const reply = {
      ...(text === "" ? {} : { text }),
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    };
    const hasReply = Object.keys(reply).length > 0;
    this.#reportCall({
      kind: "model",
      prompt,
      ...(hasReply ? { reply } : {}),
      durationMs: lastChunkMs - startMs,
      ...outcome,
    });
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

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
