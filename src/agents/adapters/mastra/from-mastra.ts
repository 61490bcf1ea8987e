import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, AgentEvent, TurnPolicy } from "../../../engine/index.ts";
import {
  data,
  file,
  fromBase64,
  getText,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJsonOrUndefined,
} from "../../../protocol/index.ts";
import { AgentLoopOutput, type AgentLoopOutputOptions } from "../agent-loop-output.ts";
import { type AgentYield, inputRequired } from "../agent-yield.ts";
import { toUserMessage } from "../ai-sdk/messages.ts";
import { decodeApprovalDecisions } from "../approval-decisions.ts";
import { CallTracker, describeCallError, type ReportCall } from "../call-tracker.ts";
import {
  buildConversationFromTask,
  type ConversationStore,
  createMemoryConversationStore,
  encodeConversationKey,
  getConversationKey,
} from "../conversation-store.ts";
import {
  ADAPTER_OPTION_NAMES,
  createAdapterAgent,
  type GeneratorOptions,
  type Turn,
} from "../generator-agent.ts";
import { toJsonValue } from "../to-json-value.ts";

/** The output of a Mastra stream that the adapter reads. */
export interface MastraStream {
  /** The chunks, whose type depends on the agent's structured output. The adapter ignores structured output. */
  readonly fullStream: AsyncIterable<{ readonly type: string }>;
}

/** The members of a Mastra `Agent` that the adapter uses. */
export interface MastraAgent {
  readonly name: string;
  getDescription(): string;
  hasOwnMemory(): boolean;
  stream(messages: never, options: never): Promise<MastraStream>;
  approveToolCall(options: never): Promise<MastraStream>;
  declineToolCall(options: never): Promise<MastraStream>;
  resumeStream(resumeData: never, options: never): Promise<MastraStream>;
}

/** A text message of an earlier turn, for Mastra agents without memory. */
export interface MastraTextMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** Options for `fromMastra`. */
export interface MastraOptions
  extends
    Partial<AgentDescription>,
    AgentLoopOutputOptions,
    Pick<GeneratorOptions, "afterRestart" | "artifacts" | keyof TurnPolicy> {
  /**
   * The store for the text of earlier turns. The adapter ignores the store if the Mastra agent has its own
   * memory. Default: the last 1,000 conversations in memory.
   */
  conversationStore?: ConversationStore<MastraTextMessage>;
  /** Returns further options of `Agent.stream` for a single turn, for example `{ maxSteps: 3 }`. */
  toStreamOptions?: (turn: Turn) => Readonly<Record<string, unknown>>;
}

const assertKnownOptions = defineOptionNames<MastraOptions>()(
  "fromMastra",
  ADAPTER_OPTION_NAMES,
  "afterRestart conversationStore showReasoning showToolCalls toStreamOptions",
);

/**
 * Creates an agent from an `Agent` of Mastra. The name and the description of the A2A agent are those of the
 * Mastra agent, unless the options contain others.
 *
 * A tool that requires approval, or that calls `suspend`, sets the task to INPUT_REQUIRED. The user answers an
 * approval request with `{ approvalId, approved }` or with a plain "yes". A suspended tool receives the data
 * part or the text of the user's answer as its `resumeData`. If the agent has a memory, its thread is the
 * context id, prefixed with the name of an authenticated caller, and its resource is the caller.
 */
export function fromMastra(source: MastraAgent, options: MastraOptions = {}): Agent {
  assertKnownOptions(options);
  const {
    conversationStore = createMemoryConversationStore<MastraTextMessage>(({ role }) => role === "user"),
    toStreamOptions = (): Readonly<Record<string, unknown>> => ({}),
    showReasoning = true,
    showToolCalls = true,
    ...agentOptions
  } = options;
  async function* work(turn: Turn): AsyncGenerator<AgentYield, void, undefined> {
    const conversationKey = getConversationKey(turn);
    const hasMemory = source.hasOwnMemory();
    const streamOptions = {
      ...toStreamOptions(turn),
      ...(hasMemory ? { memory: toMemoryOptions(turn) } : {}),
      abortSignal: turn.signal,
    };
    const runId = `${turn.taskId}/${turn.message.messageId}`;
    const suspendedCall = findSuspendedCall(turn);
    const earlierMessages = hasMemory ? [] : await loadEarlierMessages(conversationStore, turn);
    const stream = suspendedCall
      ? await resumeSuspendedCall(source, suspendedCall, turn, streamOptions)
      : await source.stream(
          [...earlierMessages, toUserMessage(turn.message)] as never,
          { ...streamOptions, runId } as never,
        );
    const output = new AgentLoopOutput(turn, { showReasoning, showToolCalls });
    const reporter = turn.reportCall && new MastraCallReporter(turn.reportCall);
    let question: AgentEvent | undefined;
    for await (const chunk of stream.fullStream as AsyncIterable<MastraChunk>) {
      turn.progress();
      reporter?.observe(chunk);
      if (chunk.type === "error") reporter?.end(chunk.payload.error);
      if (chunk.type === "error") throw chunk.payload.error;
      if (chunk.type === "tripwire") throw new Error(`A processor stopped the run: ${chunk.payload.reason}`);
      if (chunk.type === "tool-call-approval") {
        const { toolCallId, toolName, args: input } = chunk.payload;
        output.requestApproval({ toolCallId, toolName, input }, { runId: chunk.runId });
      } else if (chunk.type === "tool-call-suspended") question = createSuspendQuestion(chunk);
      else yield* convertMastraChunk(chunk, output);
    }
    reporter?.end();
    turn.signal.throwIfAborted();
    const messages: MastraTextMessage[] = [
      { role: "user", content: turn.text },
      { role: "assistant", content: output.answerText },
    ];
    if (!hasMemory) await conversationStore.append(conversationKey, messages.filter(hasContent));
    yield output.createFinalStatus(question);
  }
  const nameAndDescription = { name: source.name, description: source.getDescription() };
  return createAdapterAgent({ ...nameAndDescription, ...agentOptions }, work);
}

/** Anonymous callers have no name that separates them, so the thread of an anonymous caller is its resource. */
function toMemoryOptions(turn: Turn): { thread: string; resource: string } {
  const { tenant, principal, contextId } = getConversationKey(turn);
  const thread = encodeConversationKey({ tenant, principal, contextId });
  return { thread, resource: principal === "" ? thread : JSON.stringify([tenant, principal]) };
}

async function loadEarlierMessages(
  conversationStore: ConversationStore<MastraTextMessage>,
  turn: Turn,
): Promise<readonly MastraTextMessage[]> {
  const storedMessages = await conversationStore.load(getConversationKey(turn));
  if (storedMessages.length > 0) return storedMessages;
  return buildConversationFromTask<MastraTextMessage>(
    turn,
    ({ parts }) => ({ role: "user", content: getText(parts) }),
    (content) => ({ role: "assistant", content }),
  );
}

function hasContent({ content }: MastraTextMessage): boolean {
  return content !== "";
}

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
function* convertMastraChunk(
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

/** A tool call at which a run of Mastra waits for its user. */
interface SuspendedCall {
  readonly type: "tool-approval-request" | "tool-suspended";
  readonly runId: string;
  readonly toolCallId: string;
}

/**
 * Returns the tool call that the message of this turn answers. The question of the earlier turn is part of the
 * task, so the agent finds the run after a restart.
 */
function findSuspendedCall({ history }: Turn): SuspendedCall | undefined {
  const question = history.findLast(({ role }) => role === "ROLE_AGENT");
  return question?.parts
    .map((part) => ("data" in part ? decodeSuspendedCall(part.data) : undefined))
    .find((suspendedCall) => suspendedCall !== undefined);
}

/** Resumes a run with the user's answer. */
function resumeSuspendedCall(
  source: MastraAgent,
  { type, runId, toolCallId }: SuspendedCall,
  { message, text }: Turn,
  streamOptions: object,
): Promise<MastraStream> {
  const options = { ...streamOptions, runId, toolCallId };
  if (type === "tool-suspended") {
    const dataPart = message.parts.find((part) => "data" in part);
    return source.resumeStream((dataPart ? dataPart.data : text) as never, options as never);
  }
  const { approved, reason } = decodeApprovalDecisions(message)(toolCallId);
  if (approved) return source.approveToolCall(options as never);
  return source.declineToolCall({ ...options, ...(reason === undefined ? {} : { reason }) } as never);
}

/**
 * Creates the question of a tool that has called `suspend`. A payload that is a string, or the `message` of the
 * payload, is the text of the question.
 */
function createSuspendQuestion({
  runId,
  payload: { toolCallId, toolName, suspendPayload },
}: Extract<MastraChunk, { type: "tool-call-suspended" }>): AgentEvent {
  const payload = toJsonValue(suspendPayload);
  const text = isObject(payload) ? payload["message"] : payload;
  const call: JsonObject = { type: "tool-suspended", runId, toolCallId, toolName, payload };
  return inputRequired(...(typeof text === "string" ? [text] : []), data(call));
}

function decodeSuspendedCall(value: unknown): SuspendedCall | undefined {
  if (!isObject(value)) return undefined;
  const { type, runId, toolCallId } = value;
  if (type !== "tool-approval-request" && type !== "tool-suspended") return undefined;
  if (typeof runId !== "string" || typeof toolCallId !== "string") return undefined;
  return { type, runId, toolCallId };
}

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
    const body = typeof request.body === "string" ? parseJsonOrUndefined(request.body) : request.body;
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
