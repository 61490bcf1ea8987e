import type { ModelCallReport, Run } from "../../../engine/index.ts";
import { isObject, type JsonValue } from "../../../protocol/index.ts";
import { toJsonValue } from "../to-json-value.ts";

type ReportCall = NonNullable<Run["reportCall"]>;

/** The listeners of LangChain that the reporter uses. LangChain accepts them as `callbacks` of a graph. */
export interface LangChainCallbacks {
  /** LangChain waits for the listeners, so that no report follows the end of the turn. */
  readonly awaitHandlers: true;
  handleChatModelStart(
    model: unknown,
    messages: readonly (readonly unknown[])[],
    runId: string,
    ...rest: readonly unknown[]
  ): void;
  handleLLMStart(
    model: unknown,
    prompts: readonly string[],
    runId: string,
    ...rest: readonly unknown[]
  ): void;
  handleLLMEnd(output: unknown, runId: string): void;
  handleLLMError(error: unknown, runId: string): void;
  handleToolStart(tool: unknown, input: string, runId: string, ...rest: readonly unknown[]): void;
  handleToolEnd(output: unknown, runId: string): void;
  handleToolError(error: unknown, runId: string): void;
}

/** A model call or a tool call that has begun. */
interface StartedCall {
  readonly startMs: number;
  readonly provider: string | undefined;
  /** Name of the model or of the tool. */
  readonly name: string;
  readonly input: JsonValue;
}

/** The end of a model call. */
type ModelCallOutcome = Partial<Omit<ModelCallReport, "model">> & { readonly model?: string | undefined };

/** Returns listeners that report the model calls and tool calls of one run of a graph. */
export function createLangChainCallReporter(reportCall: ReportCall): LangChainCallbacks {
  const calls = new Map<string, StartedCall>();
  const startModelCall = (
    input: JsonValue,
    runId: string,
    [, params, , metadata]: readonly unknown[],
  ): void => {
    const { ls_provider: provider, ls_model_name: model } = isObject(metadata) ? metadata : {};
    const { model: requested } = findObject(params, "invocation_params");
    calls.set(runId, {
      startMs: performance.now(),
      provider: findText(provider),
      name: findText(model) ?? findText(requested) ?? "unknown",
      input,
    });
  };
  const takeCall = (runId: string): StartedCall | undefined => {
    const call = calls.get(runId);
    calls.delete(runId);
    return call;
  };
  const endModelCall = (runId: string, outcome: ModelCallOutcome): void => {
    const call = takeCall(runId);
    if (!call) return;
    const { startMs, provider, name, input: prompt } = call;
    const { model = name } = outcome;
    reportCall({
      kind: "model",
      provider,
      prompt,
      durationMs: performance.now() - startMs,
      ...outcome,
      model,
    });
  };
  const endToolCall = (runId: string, outcome: { result?: JsonValue; error?: string }): void => {
    const call = takeCall(runId);
    if (!call) return;
    const { startMs, name: tool, input } = call;
    reportCall({
      kind: "tool",
      tool,
      arguments: input,
      durationMs: performance.now() - startMs,
      ...outcome,
    });
  };
  return {
    awaitHandlers: true,
    handleChatModelStart: (_model, messages, runId, ...rest) =>
      startModelCall(messages.flat().map(toJsonOfMessage), runId, rest),
    handleLLMStart: (_model, prompts, runId, ...rest) => startModelCall([...prompts], runId, rest),
    handleLLMEnd: (output, runId) => endModelCall(runId, describeReply(output)),
    handleLLMError: (error, runId) => endModelCall(runId, { error: describeError(error) }),
    handleToolStart: (tool, input, runId, ...rest) => {
      const [, , , runName] = rest;
      const name = findText(runName) ?? findText(findObject(tool)["name"]) ?? "unknown";
      calls.set(runId, {
        startMs: performance.now(),
        provider: undefined,
        name,
        input: parseJsonOrText(input),
      });
    },
    handleToolEnd: (output, runId) => {
      const { content = output, status } = findObject(output);
      const result = toJsonValue(content);
      endToolCall(runId, status === "error" ? { error: findText(content) ?? "" } : { result });
    },
    handleToolError: (error, runId) => endToolCall(runId, { error: describeError(error) }),
  };
}

/** Describes an `LLMResult` of LangChain. Models that stream leave some members out. */
function describeReply(output: unknown): ModelCallOutcome {
  const { generations } = findObject(output);
  const [generation] = Array.isArray(generations) ? (generations as unknown[]).flat() : [];
  const { message, text } = findObject(generation);
  const { usage_metadata: usage, response_metadata: metadata } = findObject(message);
  const { model_name: model, finish_reason: finishReason } = findObject(metadata);
  const { input_tokens: inputTokens, output_tokens: outputTokens } = findObject(usage);
  const { cache_read: cachedInputTokens } = findObject(usage, "input_token_details");
  return {
    model: findText(model),
    reply: isObject(message) ? toJsonOfMessage(message) : toJsonValue(text),
    finishReason: findText(finishReason),
    inputTokens: findCount(inputTokens),
    cachedInputTokens: findCount(cachedInputTokens),
    outputTokens: findCount(outputTokens),
  };
}

/** Returns the members of a LangChain message that a model receives or sends. */
function toJsonOfMessage(message: unknown): JsonValue {
  const { type, content, tool_calls: toolCalls, tool_call_id: toolCallId, name } = findObject(message);
  return {
    role: findText(type) ?? "unknown",
    content: toJsonValue(content),
    ...(Array.isArray(toolCalls) && toolCalls.length > 0 ? { tool_calls: toJsonValue(toolCalls) } : {}),
    ...(typeof toolCallId === "string" ? { tool_call_id: toolCallId } : {}),
    ...(typeof name === "string" ? { name } : {}),
  };
}

/** Returns an object, or the member `key` of an object. Returns an empty object for other values. */
function findObject(value: unknown, key?: string): Readonly<Record<string, unknown>> {
  const found = key === undefined ? value : isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : {};
}

function findText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function findCount(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** LangChain passes the arguments of a tool as JSON. */
function parseJsonOrText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
