import { isObject, type JsonValue, parseJsonOrUndefined } from "../../../protocol/index.ts";
import { CallTracker, describeCallError, type ReportCall } from "../call-tracker.ts";
import { toJsonValue } from "../to-json-value.ts";

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

/** Returns listeners that report the model calls and tool calls of one run of a graph. */
export function createLangChainCallReporter(reportCall: ReportCall): LangChainCallbacks {
  const calls = new CallTracker(reportCall);
  const startModelCall = (
    prompt: JsonValue,
    id: string,
    [, params, , metadata]: readonly unknown[],
  ): void => {
    const { ls_provider: provider, ls_model_name: model } = isObject(metadata) ? metadata : {};
    const { model: requested } = findObject(params, "invocation_params");
    calls.startModel(
      { provider: findText(provider), model: findText(model) ?? findText(requested) ?? "unknown", prompt },
      { id },
    );
  };
  return {
    awaitHandlers: true,
    handleChatModelStart: (_model, messages, runId, ...rest) =>
      startModelCall(messages.flat().map(toJsonOfMessage), runId, rest),
    handleLLMStart: (_model, prompts, runId, ...rest) => startModelCall([...prompts], runId, rest),
    handleLLMEnd: (output, id) => calls.endModel(describeReply(output), { id }),
    handleLLMError: (error, id) => calls.endModel({ error: describeCallError(error) }, { id }),
    handleToolStart: (tool, input, runId, ...rest) => {
      const [, , , runName] = rest;
      const name = findText(runName) ?? findText(findObject(tool)["name"]) ?? "unknown";
      calls.startTool(runId, { tool: name, arguments: parseJsonOrUndefined(input) ?? input });
    },
    handleToolEnd: (output, runId) => {
      const { content = output, status } = findObject(output);
      const result = toJsonValue(content);
      calls.endTool(runId, status === "error" ? { error: findText(content) ?? "" } : { result });
    },
    handleToolError: (error, runId) => calls.endTool(runId, { error: describeCallError(error) }),
  };
}

/** Describes an `LLMResult` of LangChain. Models that stream leave some members out. */
function describeReply(output: unknown): Parameters<CallTracker["endModel"]>[0] {
  const { generations } = findObject(output);
  const [generation] = Array.isArray(generations) ? (generations as unknown[]).flat() : [];
  const { message, text } = findObject(generation);
  const { usage_metadata: usage, response_metadata: metadata } = findObject(message);
  const { model_name: model, finish_reason: finishReason } = findObject(metadata);
  const { input_tokens: inputTokens, output_tokens: outputTokens } = findObject(usage);
  const { cache_read: cachedInputTokens } = findObject(usage, "input_token_details");
  const name = findText(model);
  return {
    ...(name === undefined ? {} : { model: name }),
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
