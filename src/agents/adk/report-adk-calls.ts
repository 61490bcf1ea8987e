import type { BasePlugin, LlmRequest, PluginManager } from "@google/adk";
import { omitUndefined } from "../../base/usage-checks/index.ts";
import type { ModelCallReport, Run } from "../../engine/index.ts";
import type { JsonValue } from "../../protocol/index.ts";
import type { AdkRunner } from "./adk-structural-types.ts";
import { findRunContextByInvocation } from "./adk-run-context.ts";

type AdkModule = typeof import("@google/adk");
type CallbackContext = Parameters<BasePlugin["beforeModelCallback"]>[0]["callbackContext"];

/** A model call or a tool call that has begun. */
interface StartedCall {
  readonly startMs: number;
  readonly request?: LlmRequest;
  /** Tokens of the model call in earlier reports. */
  reported?: TokenCounts;
}

type TokenCounts = Pick<ModelCallReport, "inputTokens" | "cachedInputTokens" | "outputTokens">;

const reportingManagers = new WeakSet<PluginManager>();

/**
 * Makes a runner report its model calls and tool calls to the runs of its tasks. The plugin that reports the calls is
 * registered once per runner, and only for servers that record their traffic.
 */
export async function reportAdkCalls(runner: AdkRunner): Promise<void> {
  const manager = findPluginRegistry(runner);
  if (!manager || reportingManagers.has(manager)) return;
  reportingManagers.add(manager);
  manager.registerPlugin(createReportingPlugin(await import("@google/adk")));
}

function findPluginRegistry(runner: object): PluginManager | undefined {
  const manager: unknown = "pluginManager" in runner ? runner.pluginManager : undefined;
  const isManager = typeof manager === "object" && manager !== null && "registerPlugin" in manager;
  return isManager ? (manager as PluginManager) : undefined;
}

function createReportingPlugin({ BasePlugin: AdkPlugin }: AdkModule): BasePlugin {
  const modelCalls = new WeakMap<object, StartedCall>();
  const toolCalls = new WeakMap<object, StartedCall>();
  const reportModelCall = (context: CallbackContext, result: Partial<ModelCallReport>): void => {
    const report = findReporter(context);
    const { startMs, request } = modelCalls.get(context.invocationContext) ?? { startMs: performance.now() };
    report?.({
      kind: "model",
      model: request?.model ?? "unknown",
      prompt:
        request &&
        toJson({
          contents: request.contents,
          instruction: request.config?.systemInstruction,
          tools: describeTools(request),
        }),
      durationMs: performance.now() - startMs,
      ...result,
    });
  };
  class ReportingPlugin extends AdkPlugin {
    override beforeModelCallback({
      callbackContext,
      llmRequest,
    }: Parameters<BasePlugin["beforeModelCallback"]>[0]) {
      modelCalls.set(callbackContext.invocationContext, { startMs: performance.now(), request: llmRequest });
      return Promise.resolve(undefined);
    }

    override afterModelCallback({
      callbackContext,
      llmResponse,
    }: Parameters<BasePlugin["afterModelCallback"]>[0]) {
      const { partial, content, finishReason, usageMetadata, errorCode, errorMessage, modelVersion } =
        llmResponse;
      // Partial responses are repeated in a complete response.
      if (partial) return Promise.resolve(undefined);
      const call = modelCalls.get(callbackContext.invocationContext);
      const tokens: TokenCounts = {
        inputTokens: usageMetadata?.promptTokenCount,
        cachedInputTokens: usageMetadata?.cachedContentTokenCount,
        outputTokens: sumOutputTokens(usageMetadata),
      };
      // In a stream, ADK's Gemini model repeats the tokens of the call after text, after a function call, and at the end.
      const newTokens = subtractTokens(tokens, call?.reported);
      const isRepetition =
        call?.reported && !content && !errorCode && !Object.values(newTokens).some(Boolean);
      if (!isRepetition)
        reportModelCall(callbackContext, {
          reply: toJson(content),
          finishReason,
          ...newTokens,
          ...(modelVersion !== undefined && { model: modelVersion }),
          ...(errorCode !== undefined && { error: `${errorCode}: ${errorMessage ?? ""}` }),
        });
      if (call) call.reported = { ...call.reported, ...omitUndefined(tokens) };
      return Promise.resolve(undefined);
    }

    override onModelErrorCallback({
      callbackContext,
      error,
    }: Parameters<BasePlugin["onModelErrorCallback"]>[0]) {
      reportModelCall(callbackContext, { error: error.message });
      return Promise.resolve(undefined);
    }

    override beforeToolCallback({ toolContext }: Parameters<BasePlugin["beforeToolCallback"]>[0]) {
      toolCalls.set(toolContext, { startMs: performance.now() });
      return Promise.resolve(undefined);
    }

    override afterToolCallback({
      tool,
      toolArgs,
      toolContext,
      result,
    }: Parameters<BasePlugin["afterToolCallback"]>[0]) {
      reportToolCall(tool.name, toolArgs, toolContext, { result: toJson(result) });
      return Promise.resolve(undefined);
    }

    override onToolErrorCallback({
      tool,
      toolArgs,
      toolContext,
      error,
    }: Parameters<BasePlugin["onToolErrorCallback"]>[0]) {
      reportToolCall(tool.name, toolArgs, toolContext, { error: error.message });
      return Promise.resolve(undefined);
    }
  }
  const reportToolCall = (
    tool: string,
    toolArguments: object,
    context: CallbackContext,
    outcome: { result?: JsonValue | undefined; error?: string },
  ): void => {
    // After the error of a tool, ADK also calls `afterToolCallback`.
    const started = toolCalls.get(context);
    if (!started) return;
    toolCalls.delete(context);
    findReporter(context)?.({
      kind: "tool",
      tool,
      arguments: toJson(toolArguments),
      durationMs: performance.now() - started.startMs,
      ...outcome,
    });
  };
  return new ReportingPlugin("colloquy_traffic_record");
}

function findReporter({ invocationContext }: CallbackContext): Run["reportCall"] {
  return findRunContextByInvocation(invocationContext)?.run.reportCall;
}

/** Returns the names and the descriptions of tools, bounded. Their schemas would repeat in the record of each call. */
function describeTools({ config }: LlmRequest): object[] {
  return (config?.tools ?? [])
    .flatMap((tool) => ("functionDeclarations" in tool ? (tool.functionDeclarations ?? []) : []))
    .slice(0, 100)
    .map(({ name, description = "" }) => ({ name, description: description.slice(0, 500).toWellFormed() }));
}

/** Gemini counts the tokens of its reasoning separately, and charges them as output. */
function sumOutputTokens(
  usage: { readonly candidatesTokenCount?: number; readonly thoughtsTokenCount?: number } | undefined,
): number | undefined {
  if (usage?.candidatesTokenCount === undefined) return undefined;
  return usage.candidatesTokenCount + (usage.thoughtsTokenCount ?? 0);
}

/** Returns the tokens that earlier reports of the same model call do not contain. */
function subtractTokens(tokens: TokenCounts, reported: TokenCounts = {}): TokenCounts {
  return {
    inputTokens: subtractCount(tokens.inputTokens, reported.inputTokens),
    cachedInputTokens: subtractCount(tokens.cachedInputTokens, reported.cachedInputTokens),
    outputTokens: subtractCount(tokens.outputTokens, reported.outputTokens),
  };
}

function subtractCount(count: number | undefined, reported = 0): number | undefined {
  return count === undefined ? undefined : Math.max(0, count - reported);
}

/** Converts data of ADK to JSON. Files and functions are not JSON, and circular data is omitted. */
function toJson(value: unknown): JsonValue | undefined {
  try {
    return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as JsonValue);
  } catch {
    return undefined;
  }
}
