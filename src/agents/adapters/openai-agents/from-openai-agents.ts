import type {
  Agent as OpenAiAgent,
  AgentInputItem,
  AgentOutputType,
  CallModelInputFilter,
  RunContext,
  Runner,
  RunState,
  RunStreamEvent,
  UserMessageItem,
} from "@openai/agents";
import { defineOptionNames, omitUndefined } from "../../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, TurnPolicy } from "../../../engine/index.ts";
import { isObject, type Message, parseJsonOrUndefined, type Part } from "../../../protocol/index.ts";
import { AgentLoopOutput, type AgentLoopOutputOptions, type ModelToolCall } from "../agent-loop-output.ts";
import { type AgentYield, failed } from "../agent-yield.ts";
import { type ApprovalDecision, decodeApprovalDecisions } from "../approval-decisions.ts";
import { CallTracker, describeCallError, type ReportCall } from "../call-tracker.ts";
import {
  buildConversationFromTask,
  type ConversationStore,
  createMemoryConversationStore,
  formatPendingTaskRefusalReason,
  getConversationKey,
  isFirstTurnInTask,
} from "../conversation-store.ts";
import {
  ADAPTER_OPTION_NAMES,
  createAdapterAgent,
  type GeneratorOptions,
  type Turn,
} from "../generator-agent.ts";
import { toJsonValue } from "../to-json-value.ts";

/**
 * A record of a conversation. `items` are the model's input and output items of a completed turn. `runState`
 * is the serialized state of a run that waits for the user's approval.
 */
export type OpenAiAgentsRecord =
  | { readonly items: AgentInputItem[] }
  | { readonly runState: string; readonly userItem: AgentInputItem };

/** Options of a single run, in addition to the options that the adapter itself sets. */
export interface OpenAiAgentsRunOptions<C> {
  /** The local context that tools receive. */
  readonly context?: C;
  /** Maximum number of model calls per run. Default: the default of the SDK. */
  readonly maxTurns?: number;
}

/** Options for `fromOpenAiAgents`. */
export interface OpenAiAgentsOptions<C>
  extends
    Partial<AgentDescription>,
    AgentLoopOutputOptions,
    Pick<GeneratorOptions, "afterRestart" | "artifacts" | keyof TurnPolicy> {
  /**
   * The store for the items of earlier turns, and for the state of runs that wait for an approval. Default:
   * the last 1,000 conversations in memory.
   */
  conversationStore?: ConversationStore<OpenAiAgentsRecord>;
  /** The runner with the model provider and the tracing settings. Default: a new `Runner`. */
  runner?: Runner;
  /** Returns the options of the run for a single turn, for example the local context of the tools. */
  toRunOptions?: (turn: Turn) => OpenAiAgentsRunOptions<C>;
}

const assertKnownOptions = defineOptionNames<OpenAiAgentsOptions<unknown>>()(
  "fromOpenAiAgents",
  ADAPTER_OPTION_NAMES,
  "afterRestart conversationStore runner showReasoning showToolCalls toRunOptions",
);

/**
 * Creates an agent from an `Agent` of the OpenAI Agents SDK. The name of the A2A agent is the name of the
 * `Agent`, and its description is `handoffDescription`, unless the options contain others.
 *
 * A tool with `needsApproval` sets the task to INPUT_REQUIRED. The user answers with `{ approvalId, approved
 * }` or with a plain "yes". Each context id is a separate conversation. Canceling the task aborts the run.
 */
export function fromOpenAiAgents<C = unknown, O extends AgentOutputType = "text">(
  source: OpenAiAgent<C, O>,
  options: OpenAiAgentsOptions<C> = {},
): Agent {
  assertKnownOptions(options);
  const {
    conversationStore = createMemoryConversationStore<OpenAiAgentsRecord>(() => true),
    runner: configuredRunner,
    toRunOptions = (): OpenAiAgentsRunOptions<C> => ({}),
    showReasoning = true,
    showToolCalls = true,
    ...agentOptions
  } = options;
  let defaultRunner: Runner | undefined;
  async function* work(turn: Turn): AsyncGenerator<AgentYield, void, undefined> {
    const sdk = await import("@openai/agents");
    const runner = configuredRunner ?? (defaultRunner ??= new sdk.Runner());
    const conversationKey = getConversationKey(turn);
    const records = await conversationStore.load(conversationKey);
    const lastRecord = records.at(-1);
    const pendingRun = lastRecord && "runState" in lastRecord ? lastRecord : undefined;
    if (pendingRun && isFirstTurnInTask(turn)) {
      const [interruptedTask] = await turn.listInterruptedTasks();
      if (interruptedTask) yield failed(formatPendingTaskRefusalReason(interruptedTask.id));
    }
    // The run of a canceled task is not resumed, and the conversation continues without its message.
    const resumedRun = isFirstTurnInTask(turn) ? undefined : pendingRun;
    const userItem = resumedRun?.userItem ?? toUserItem(turn.message);
    const input = resumedRun
      ? decideInterruptions(
          await sdk.RunState.fromString<C, OpenAiAgent<C, O>>(source, resumedRun.runState),
          decodeApprovalDecisions(turn.message),
        )
      : [...listEarlierItems(records, turn), userItem];
    const output = new AgentLoopOutput(turn, { showReasoning, showToolCalls });
    const runOptions = toRunOptions(turn);
    const reporter =
      turn.reportCall &&
      new OpenAiAgentsCallReporter(sdk, turn.reportCall, runner, input, runOptions.context);
    const result = await runner.run(source, input, {
      ...runOptions,
      ...reporter?.runOptions,
      signal: turn.signal,
      stream: true,
    });
    const events = reporter ? reporter.observeEvents(result) : result;
    for await (const event of events) {
      turn.progress();
      yield* convertRunStreamEvent(event, output);
    }
    turn.signal.throwIfAborted();
    await result.completed;
    output.setUsage(result.runContext.usage);
    if (result.interruptions.length === 0) yield* emitFinalOutput(result.finalOutput, output);
    for (const { rawItem } of result.interruptions) output.requestApproval(decodeToolItem(rawItem));
    await conversationStore.append(conversationKey, [
      result.interruptions.length > 0
        ? { runState: result.state.toString(), userItem }
        : { items: [userItem, ...result.output] },
    ]);
    yield output.createFinalStatus();
  }
  const { name, handoffDescription } = source;
  return createAdapterAgent({ name, description: handoffDescription, ...agentOptions }, work);
}

/** Emits the final output if it is the result of a tool, or the text of a model that does not stream. */
function* emitFinalOutput(
  finalOutput: unknown,
  output: AgentLoopOutput,
): Generator<AgentYield, void, undefined> {
  if (finalOutput === undefined) return;
  if (typeof finalOutput !== "string") {
    // The model has streamed the JSON of a structured output, possibly with other whitespace.
    if (output.answerText === "") yield* output.emitText(JSON.stringify(finalOutput));
  } else if (!output.answerText.endsWith(finalOutput)) yield* output.emitText(finalOutput);
}

function listEarlierItems(records: readonly OpenAiAgentsRecord[], turn: Turn): AgentInputItem[] {
  const items = records.flatMap((record) => ("items" in record ? record.items : []));
  return items.length > 0 ? items : buildConversationFromTask(turn, toUserItem, toAssistantItem);
}

/** Applies the decisions of the user to the calls that wait for them. */
function decideInterruptions<C, O extends AgentOutputType>(
  state: RunState<C, OpenAiAgent<C, O>>,
  findDecision: (approvalId: string) => ApprovalDecision,
): RunState<C, OpenAiAgent<C, O>> {
  for (const approvalItem of state.getInterruptions()) {
    const { approved, reason } = findDecision(decodeToolItem(approvalItem.rawItem).toolCallId);
    if (approved) state.approve(approvalItem);
    else state.reject(approvalItem, reason === undefined ? {} : { message: reason });
  }
  return state;
}

type ContentPart = Exclude<UserMessageItem["content"], string>[number];

/**
 * Converts an A2A message into an input item of the OpenAI Agents SDK. Data parts become JSON text, because
 * models have no data parts.
 */
function toUserItem({ parts }: Pick<Message, "parts">): AgentInputItem {
  const [onlyPart] = parts;
  if (onlyPart && parts.length === 1 && "text" in onlyPart) return { role: "user", content: onlyPart.text };
  return { role: "user", content: parts.map(toContentPart) };
}

/** Creates an item for an earlier answer of the agent. */
function toAssistantItem(answer: string): AgentInputItem {
  return { role: "assistant", status: "completed", content: [{ type: "output_text", text: answer }] };
}

function toContentPart(part: Part): ContentPart {
  if ("text" in part) return { type: "input_text", text: part.text };
  if ("data" in part) return { type: "input_text", text: JSON.stringify(part.data) };
  const { mediaType = "application/octet-stream", filename = "file" } = part;
  const url = "raw" in part ? `data:${mediaType};base64,${part.raw}` : part.url;
  if (mediaType.startsWith("image/")) return { type: "input_image", image: url };
  return { type: "input_file", file: "raw" in part ? url : { url }, filename };
}

/** The start of the text that the SDK sends to the model instead of the result of a failed tool. */
const TOOL_ERROR_PREFIX = "An error occurred while running the tool.";

/** Converts an event of the SDK's run stream into values that a generator agent yields. */
function* convertRunStreamEvent(
  event: RunStreamEvent,
  output: AgentLoopOutput,
): Generator<AgentYield, void, undefined> {
  if (event.type === "raw_model_stream_event") {
    if (event.data.type === "output_text_delta") yield* output.emitText(event.data.delta);
    else if (event.data.type === "model") yield* output.emitReasoning(getReasoningDelta(event.data.event));
  } else if (event.type === "run_item_stream_event") {
    const item = decodeToolItem(event.item.rawItem);
    const { toolCallId, toolName } = item;
    if (event.name === "tool_called") yield* output.emitToolCall(item);
    else if (event.name === "tool_output") {
      if (isToolErrorText(item.output)) yield* output.emitToolError(toolCallId, toolName);
      else yield* output.emitToolResult(toolCallId, toolName, item.output);
    }
  }
}

/** Returns the reasoning in an event of the Responses API or in a chunk of the chat API. */
function getReasoningDelta(event: unknown): string {
  if (!isObject(event)) return "";
  const { type, delta, choices } = event;
  if (typeof type === "string" && /^response\.reasoning\w*\.delta$/.test(type)) return toText(delta);
  const chatDelta: unknown = Array.isArray(choices) && isObject(choices[0]) ? choices[0]["delta"] : undefined;
  const chatReasoning = isObject(chatDelta) ? (chatDelta["reasoning"] ?? chatDelta["reasoning_content"]) : "";
  return toText(chatReasoning);
}

/** Decodes a call or a result of a tool. The id of a hosted tool call is the id of its item. */
export function decodeToolItem(rawItem: unknown): ModelToolCall & { readonly output: unknown } {
  const { callId, id, name, type, arguments: input, output } = isObject(rawItem) ? rawItem : {};
  return {
    toolCallId: toText(callId) || toText(id),
    toolName: toText(name) || toText(type),
    input: typeof input === "string" && input !== "" ? (parseJsonOrUndefined(input) ?? input) : {},
    output: isObject(output) && output["type"] === "text" ? output["text"] : output,
  };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns whether the output of a tool is the text that the SDK sends to the model instead of the result. */
export function isToolErrorText(toolOutput: unknown): boolean {
  return typeof toolOutput === "string" && toolOutput.startsWith(TOOL_ERROR_PREFIX);
}

/** Options of a run that make its calls visible to the reporter. */
interface ReportedRunOptions<C> {
  readonly context: RunContext<C>;
  readonly callModelInputFilter: CallModelInputFilter;
}

/**
 * Reports the model calls and tool calls of one run of the SDK. The SDK shows the prompt to an input filter, the reply
 * in the stream of the run, and the tool calls to the listeners of the runner.
 */
class OpenAiAgentsCallReporter<C> {
  readonly #calls: CallTracker;
  readonly #runner: Runner;
  readonly #context: RunContext<C>;

  /** `sdk` is the module of the SDK, which the adapter loads on first use. */
  constructor(
    sdk: Pick<typeof import("@openai/agents"), "RunContext">,
    reportCall: ReportCall,
    runner: Runner,
    input: readonly AgentInputItem[] | { readonly _context: RunContext<C> },
    context: C | undefined,
  ) {
    this.#calls = new CallTracker(reportCall);
    this.#runner = runner;
    // The runner would create the same context.
    this.#context =
      "_context" in input
        ? // oxlint-disable-next-line no-underscore-dangle -- The SDK has no other access to the context of a `RunState`.
          input._context
        : context instanceof sdk.RunContext
          ? context
          : new sdk.RunContext(context);
    listenToToolCalls(runner);
    reportersByContext.set(this.#context, this);
  }

  /** Options for `Runner.run`. */
  get runOptions(): ReportedRunOptions<C> {
    const { callModelInputFilter: userFilter } = this.#runner.config;
    const filter: CallModelInputFilter = async (args) => {
      const modelData = userFilter ? await userFilter(args) : args.modelData;
      this.#calls.startModel({
        prompt: toJsonValue(modelData),
        model: findModelName(this.#runner.config.model) ?? findModelName(args.agent.model) ?? "unknown",
      });
      return modelData;
    };
    if (userFilter?.preserveInputIdentity) filter.preserveInputIdentity = true;
    return { context: this.#context, callModelInputFilter: filter };
  }

  /** Passes on the events of a run, and reports its model calls. */
  async *observeEvents(
    events: AsyncIterable<RunStreamEvent>,
  ): AsyncGenerator<RunStreamEvent, void, undefined> {
    try {
      for await (const event of events) {
        if (event.type === "raw_model_stream_event") this.#observeModelEvent(event.data);
        yield event;
      }
      this.#calls.endModel({ error: "The run ended before the reply." });
    } catch (error) {
      this.#calls.endModel({ error: describeCallError(error) });
      throw error;
    }
  }

  startTool({ toolCallId, toolName, input }: ReturnType<typeof decodeToolItem>): void {
    this.#calls.startTool(toolCallId, { tool: toolName, arguments: toJsonValue(input) });
  }

  endTool({ toolCallId, toolName, input }: ReturnType<typeof decodeToolItem>, result: string): void {
    const outcome = isToolErrorText(result) ? { error: result } : { result };
    this.#calls.endTool(toolCallId, outcome, { tool: toolName, arguments: toJsonValue(input) });
  }

  #observeModelEvent(event: Extract<RunStreamEvent, { type: "raw_model_stream_event" }>["data"]): void {
    if (event.type === "model") this.#calls.updateModel(findModelAndFinishReason(event.event));
    else if (event.type === "response_done") {
      const { output, usage, providerData } = event.response;
      const [details] = [usage.inputTokensDetails ?? []].flat();
      this.#calls.endModel({
        ...findModelAndFinishReason({ response: providerData }),
        reply: toJsonValue(output),
        inputTokens: usage.inputTokens,
        cachedInputTokens: details?.["cached_tokens"],
        outputTokens: usage.outputTokens,
      });
    }
  }
}

/** The runner has one listener for all runs, because Node.js warns about many listeners. */
const listeningRunners = new WeakSet<Runner>();
const reportersByContext = new WeakMap<
  object,
  Pick<OpenAiAgentsCallReporter<unknown>, "startTool" | "endTool">
>();

function listenToToolCalls(runner: Runner): void {
  if (listeningRunners.has(runner)) return;
  listeningRunners.add(runner);
  runner.on("agent_tool_start", (context, _agent, { name }, { toolCall }) =>
    reportersByContext.get(context)?.startTool({ ...decodeToolItem(toolCall), toolName: name }),
  );
  runner.on("agent_tool_end", (context, _agent, { name }, result, { toolCall }) =>
    reportersByContext.get(context)?.endTool({ ...decodeToolItem(toolCall), toolName: name }, result),
  );
}

function findModelName(model: unknown): string | undefined {
  return typeof model === "string" && model !== "" ? model : undefined;
}

/** Finds the members in an event of the Responses API, or in a chunk of the chat API. */
function findModelAndFinishReason(event: unknown): {
  readonly model?: string;
  readonly finishReason?: string;
} {
  const chunk = isObject(event) ? event : {};
  const response = isObject(chunk["response"]) ? chunk["response"] : {};
  const [choice] = Array.isArray(chunk["choices"]) ? (chunk["choices"] as unknown[]) : [];
  const { incomplete_details: incomplete, status } = response;
  const reasons = [
    isObject(incomplete) ? incomplete["reason"] : undefined,
    status,
    isObject(choice) ? choice["finish_reason"] : undefined,
  ];
  const model = findModelName(chunk["model"]) ?? findModelName(response["model"]);
  const finishReason = reasons.find((reason): reason is string => typeof reason === "string");
  return {
    ...omitUndefined({ model, finishReason }),
  };
}
