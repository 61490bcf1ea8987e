import type {
  LanguageModelUsage,
  ModelMessage,
  TextStreamPart,
  ToolApprovalRequest,
  ToolApprovalResponse,
  ToolCallPart,
  ToolModelMessage,
  ToolSet,
} from "ai";
import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, TurnPolicy } from "../../../engine/index.ts";
import {
  data,
  file,
  fromBase64,
  type JsonObject,
  type JsonValue,
  type Message,
} from "../../../protocol/index.ts";
import { AgentLoopOutput, type AgentLoopOutputOptions } from "../agent-loop-output.ts";
import { type AgentYield, failed, status } from "../agent-yield.ts";
import { decodeApprovalDecisions } from "../approval-decisions.ts";
import { CallTracker, describeCallError, type ReportCall } from "../call-tracker.ts";
import {
  buildConversationFromTask,
  type ConversationStore,
  createMemoryConversationStore,
  formatPendingTaskRefusalReason,
  getConversationKey,
  isFirstTurnInTask,
} from "../conversation-store.ts";
import { ADAPTER_OPTION_NAMES, createAdapterAgent, type Turn } from "../generator-agent.ts";
import { toJsonValue } from "../to-json-value.ts";
import { toAssistantMessage, toUserMessage } from "./messages.ts";

/** The options that the adapter passes to the AI SDK in each turn. */
export interface AiSdkCallOptions {
  /** The earlier messages of the conversation, followed by the message of this turn. */
  readonly messages: ModelMessage[];
  /** The signal for the model call, which aborts when the task is canceled. */
  readonly abortSignal: AbortSignal;
}

/** The fields of a `streamText` result that the adapter reads. */
export interface AiSdkResult {
  readonly stream: AsyncIterable<TextStreamPart<ToolSet>>;
  readonly responseMessages: PromiseLike<ModelMessage[]>;
}

/** A `ToolLoopAgent`, or any object that streams like the `Agent` interface of the AI SDK. */
export interface AiSdkAgent {
  stream(call: AiSdkCallOptions): AiSdkResult | PromiseLike<AiSdkResult>;
}

/** Options for `fromAiSdk`. */
export interface AiSdkOptions extends AgentDescription, AgentLoopOutputOptions, TurnPolicy {
  /**
   * Determines what happens to a turn that a server restart interrupted. With `restart`, the agent answers the message
   * again. Calls of models and tools that `durable` and `durableTools` wrap are not repeated. `fail` ends the task as
   * FAILED. Default: `fail`.
   */
  afterRestart?: "fail" | "restart";
  /**
   * The store for the messages of earlier turns. By default, the store keeps the last 1,000 conversations in
   * memory, with the newest 200 messages of each.
   */
  conversationStore?: ConversationStore<ModelMessage>;
  /**
   * Determines whether the last chunk of the streamed answer repeats the entire answer (`whole`) or contains
   * only new content (`pieces`). The function `agent` has the same option. Default: `whole`.
   */
  artifacts?: "whole" | "pieces";
}

const assertKnownOptions = defineOptionNames<AiSdkOptions>()(
  "fromAiSdk",
  ADAPTER_OPTION_NAMES,
  "afterRestart conversationStore showReasoning showToolCalls",
);

/**
 * Creates an agent from an AI SDK agent, such as a `ToolLoopAgent`, or from a function that returns the
 * result of `streamText({ model, ...call })`.
 *
 * The adapter streams the model's text as the agent's answer. The model's reasoning becomes an artifact with
 * `thought: true`, and generated files become parts of the answer. Tool calls and tool results become data in
 * status updates. The metadata of the final status contains the token usage.
 *
 * A tool that requires approval sets the task to INPUT_REQUIRED. The user answers the approval request with
 * `{ approvalId, approved }` or with a plain "yes".
 */
export function fromAiSdk(
  source: AiSdkAgent | ((call: AiSdkCallOptions, turn: Turn) => AiSdkResult | PromiseLike<AiSdkResult>),
  options: AiSdkOptions,
): Agent {
  assertKnownOptions(options);
  const {
    conversationStore = createMemoryConversationStore<ModelMessage>(({ role }) => role === "user"),
    showReasoning = true,
    showToolCalls = true,
    ...agentOptions
  } = options;
  const start = typeof source === "function" ? source : (call: AiSdkCallOptions) => source.stream(call);
  async function* work(turn: Turn): AsyncGenerator<AgentYield, void, undefined> {
    const conversationKey = getConversationKey(turn);
    const storedMessages = await conversationStore.load(conversationKey);
    const earlierMessages =
      storedMessages.length > 0
        ? storedMessages
        : buildConversationFromTask<ModelMessage>(turn, toUserMessage, toAssistantMessage);
    const pendingApprovals = listPendingApprovals(storedMessages);
    const newMessages: ModelMessage[] = [];
    if (pendingApprovals.length > 0 && isFirstTurnInTask(turn)) {
      const [interruptedTask] = await turn.listInterruptedTasks();
      // A model rejects a conversation with an open tool call. An "ok" in a new task might also answer a
      // different question.
      if (interruptedTask) yield failed(formatPendingTaskRefusalReason(interruptedTask.id));
      newMessages.push(createDeniedApprovals(pendingApprovals, storedMessages), toUserMessage(turn.message));
    } else
      newMessages.push(
        pendingApprovals.length > 0
          ? toApprovalResponses(pendingApprovals, turn.message)
          : toUserMessage(turn.message),
      );
    const call = { messages: [...earlierMessages, ...newMessages], abortSignal: turn.signal };
    // An agent passes the instructions and the tools of each step to this callback.
    const steps: StepStart[] = [];
    const onStepStart = ({ instructions, tools }: StepStart): void =>
      void steps.push({ instructions, tools });
    const isObserved = turn.reportCall !== undefined && typeof source !== "function";
    const observedCall = { ...call, onStepStart };
    const result = await start(isObserved ? observedCall : call, turn);
    const output = new AgentLoopOutput(turn, { showReasoning, showToolCalls });
    const parts = turn.reportCall
      ? reportAiSdkCalls(result.stream, turn.reportCall, call.messages, steps)
      : result.stream;
    for await (const part of parts) {
      turn.progress();
      if (part.type === "error") throw part.error;
      if (part.type === "abort") turn.signal.throwIfAborted();
      yield* convertStreamPart(part, output);
    }
    turn.signal.throwIfAborted();
    await conversationStore.append(conversationKey, [...newMessages, ...(await result.responseMessages)]);
    yield output.createFinalStatus();
  }
  return createAdapterAgent(agentOptions, work);
}

/** Converts a part of an AI SDK stream into values that a generator agent yields. */
function* convertStreamPart(
  part: TextStreamPart<ToolSet>,
  output: AgentLoopOutput,
): Generator<AgentYield, void, undefined> {
  if (part.type === "text-delta") yield* output.emitText(part.text);
  else if (part.type === "reasoning-delta") yield* output.emitReasoning(part.text);
  else if (part.type === "file") yield file(fromBase64(part.file.base64), { mediaType: part.file.mediaType });
  else if (part.type === "source" && part.sourceType === "url") {
    const { url, title = "" } = part;
    yield status(data({ type: "source", url, title }));
  } else if (part.type === "tool-call") yield* output.emitToolCall(part);
  else if (part.type === "tool-result" && !part.preliminary)
    yield* output.emitToolResult(part.toolCallId, part.toolName, part.output);
  else if (part.type === "tool-error") yield* output.emitToolError(part.toolCallId, part.toolName);
  else if (part.type === "tool-approval-request" && !part.isAutomatic)
    output.requestApproval(part.toolCall, { approvalId: part.approvalId });
  else if (part.type === "finish")
    output.setMetadata({ finishReason: part.finishReason, usage: toUsageMetadata(part.totalUsage) });
}

function toUsageMetadata(usage: LanguageModelUsage): JsonObject {
  const { inputTokens, outputTokens, totalTokens, inputTokenDetails } = usage as Partial<LanguageModelUsage>;
  const { cacheReadTokens } = inputTokenDetails ?? {};
  return {
    inputTokens: inputTokens ?? null,
    outputTokens: outputTokens ?? null,
    totalTokens: totalTokens ?? null,
    ...(cacheReadTokens !== undefined && { cachedInputTokens: cacheReadTokens }),
  };
}

/** Returns the approval requests of a conversation that the user has not yet answered. */
function listPendingApprovals(messages: readonly ModelMessage[]): ToolApprovalRequest[] {
  const requests: ToolApprovalRequest[] = [];
  const answeredIds = new Set<string>();
  for (const { role, content } of messages) {
    if (typeof content === "string") continue;
    for (const part of content) {
      if (role === "assistant" && part.type === "tool-approval-request" && !part.isAutomatic)
        requests.push(part);
      if (role === "tool" && part.type === "tool-approval-response") answeredIds.add(part.approvalId);
    }
  }
  return requests.filter(({ approvalId }) => !answeredIds.has(approvalId));
}

/** Converts the user's answer into approval responses. */
function toApprovalResponses(
  pendingApprovals: readonly ToolApprovalRequest[],
  message: Message,
): ToolModelMessage {
  const findDecision = decodeApprovalDecisions(message);
  const content = pendingApprovals.map(({ approvalId }): ToolApprovalResponse => {
    const { approved, reason } = findDecision(approvalId);
    const response = { type: "tool-approval-response", approvalId, approved } as const;
    return reason === undefined ? response : { ...response, reason };
  });
  return { role: "tool", content };
}

/** Returns a denial for each pending approval request of a canceled task. */
function createDeniedApprovals(
  pendingApprovals: readonly ToolApprovalRequest[],
  messages: readonly ModelMessage[],
): ToolModelMessage {
  const reason = "The user canceled the task.";
  const toolNames = new Map(
    messages.flatMap(listToolCallsInMessage).map(({ toolCallId, toolName }) => [toolCallId, toolName]),
  );
  const content = pendingApprovals.flatMap(({ approvalId, toolCallId }): ToolModelMessage["content"] => [
    { type: "tool-approval-response", approvalId, approved: false, reason },
    {
      type: "tool-result",
      toolCallId,
      toolName: toolNames.get(toolCallId) ?? "",
      output: { type: "execution-denied", reason },
    },
  ]);
  return { role: "tool", content };
}

function listToolCallsInMessage({ role, content }: ModelMessage): ToolCallPart[] {
  if (role !== "assistant" || typeof content === "string") return [];
  return content.filter((part) => part.type === "tool-call");
}

/** What the AI SDK states about a step before its call of the model. */
interface StepStart {
  readonly instructions?: unknown;
  readonly tools?: object | undefined;
}

/** Returns the names and the descriptions of tools, bounded. Their schemas would repeat in the record of each call. */
function describeTools(tools: object = {}): JsonValue[] {
  return Object.entries(tools as Record<string, { readonly description?: unknown }>)
    .slice(0, 100)
    .map(([name, { description }]) => {
      const text = typeof description === "string" ? description.slice(0, 500).toWellFormed() : "";
      return { name, description: text };
    });
}

/**
 * Passes on the parts of a stream, and reports its model calls and tool calls to the run. The prompt of the first call
 * is the conversation. The prompts of later calls also contain the replies and tool results that precede them. Each call
 * removes its start from `steps`.
 */
async function* reportAiSdkCalls(
  parts: AsyncIterable<TextStreamPart<ToolSet>>,
  reportCall: ReportCall,
  messages: readonly ModelMessage[],
  steps: StepStart[],
): AsyncGenerator<TextStreamPart<ToolSet>, void, undefined> {
  const conversation: JsonValue[] = messages.map((message) => toJsonValue(message));
  const calls = new CallTracker(reportCall);
  let reply: JsonValue[] | undefined;
  let text = "";
  const startModel = (): void => {
    const { instructions: content, tools } = steps.shift() ?? {};
    const system = content === undefined ? [] : [{ role: "system", content: toJsonValue(content) }];
    const prompt = { messages: [...system, ...conversation], tools: describeTools(tools) };
    calls.startModel({ model: "unknown", prompt });
    [reply, text] = [[], ""];
    // The results of tools follow the reply, although they precede the end of the step.
    conversation.push({ role: "assistant", content: reply });
  };
  try {
    for await (const part of parts) {
      if (part.type === "start-step") startModel();
      else if (part.type === "text-delta") text += part.text;
      else if (part.type === "tool-call") {
        const input = toJsonValue(part.input);
        calls.startTool(part.toolCallId, { tool: part.toolName, arguments: input });
        reply?.push({ tool: part.toolName, input });
      } else if (part.type === "tool-result" && part.preliminary !== true) {
        const result = toJsonValue(part.output);
        endTool(part, { result });
        conversation.push({ role: "tool", tool: part.toolName, result });
      } else if (part.type === "tool-error") endTool(part, { error: String(part.error) });
      else if (part.type === "finish-step") {
        if (text !== "") reply?.unshift({ text });
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
      } else if (part.type === "error") {
        // A call that the provider refuses has no step.
        if (!reply || steps.length > 0) startModel();
        calls.endModel({ error: describeCallError(part.error) });
      }
      yield part;
    }
  } catch (error) {
    calls.endModel({ error: describeCallError(error) });
    throw error;
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
