import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, AgentEvent, TurnPolicy } from "../../../engine/index.ts";
import {
  data,
  type DataPart,
  isObject,
  type JsonObject,
  type Message,
  type Part,
  text,
} from "../../../protocol/index.ts";
import { AgentLoopOutput, type AgentLoopOutputOptions } from "../agent-loop-output.ts";
import { type AgentYield, failed, inputRequired, type PartOrText, status } from "../agent-yield.ts";
import {
  encodeConversationKey,
  formatPendingTaskRefusalReason,
  getConversationKey,
  isFirstTurnInTask,
} from "../conversation-store.ts";
import { ADAPTER_OPTION_NAMES, createAdapterAgent, type Turn } from "../generator-agent.ts";
import { toJsonValue } from "../to-json-value.ts";
import { createLangChainCallReporter } from "./langchain-call-reporter.ts";

/**
 * The methods of a compiled LangGraph graph that the adapter calls. The type `S` is the state of the graph.
 */
export interface CompiledLangGraph<S> {
  readonly checkpointer?: unknown;
  invoke(input: never, options?: never): Promise<S>;
  stream(input: never, options?: never): Promise<AsyncIterable<unknown>>;
  getState(config: { configurable: { thread_id: string } }): Promise<GraphStateSnapshot>;
}

interface GraphStateSnapshot {
  readonly tasks: readonly unknown[];
  readonly metadata?: unknown;
}

/**
 * Additional configuration of a LangGraph graph. The adapter itself sets `thread_id`, `signal`, and the
 * stream modes of the graph.
 */
export interface LangGraphConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly recursionLimit?: number;
  readonly tags?: string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Options for `fromLangGraph`. */
export interface LangGraphOptions<S> extends AgentDescription, AgentLoopOutputOptions, TurnPolicy {
  /**
   * Converts a message to the input of the graph. Default: `{ messages: [message] }`, as in
   * `MessagesAnnotation`.
   */
  toGraphInput?: (turn: Turn) => unknown;
  /**
   * Converts the final state of the graph to the agent's answer. If `toAnswer` is set, messages are streamed
   * only from `answerNodes`. By default, the adapter streams the messages of all models in the graph as the
   * answer.
   */
  toAnswer?: (state: S) => PartOrText | PartOrText[] | undefined;
  /**
   * Names of the nodes whose messages are part of the answer. By default, the messages of all nodes are part
   * of the answer. If `toAnswer` is set, no messages are part of the answer by default.
   */
  answerNodes?: readonly string[];
  /**
   * Converts a custom event that a node of the graph sends with `config.writer(value)`. By default, a string
   * becomes a status update with text, and any other value becomes a status update with data.
   */
  toProgress?: (value: unknown) => AgentYield | undefined;
  /**
   * Determines what happens to a turn that a server restart interrupted. Default: `fail`.
   *
   * - `fail` ends the task as FAILED.
   * - `restart` sends the message to the graph again.
   * - `resume` continues the graph after the last completed node. `resume` requires a persistent
   *   checkpointer. `resume` also requires `toAnswer` or artifacts from `toProgress`, because the graph does
   *   not repeat streamed model output.
   */
  afterRestart?: "fail" | "restart" | "resume";
  /**
   * Determines whether the last chunk of the streamed answer repeats the entire answer (`whole`) or contains
   * only new content (`pieces`). The function `agent` has the same option. Default: `whole`.
   */
  artifacts?: "whole" | "pieces";
  /** Returns additional configuration of the graph for a single turn. */
  toGraphConfig?: (turn: Turn) => LangGraphConfig;
}

const assertKnownOptions = defineOptionNames<LangGraphOptions<unknown>>()(
  "fromLangGraph",
  ADAPTER_OPTION_NAMES,
  "afterRestart answerNodes showReasoning showToolCalls toAnswer toGraphConfig toGraphInput toProgress",
);

/**
 * Creates an agent from a compiled LangGraph graph.
 *
 * The graph's `thread_id` is the context id, preceded by the caller's name if the caller is authenticated. A
 * graph with a checkpointer remembers earlier turns of the same context. `interrupt(value)` asks the user for
 * input, and returns the data part or the text of the user's answer. Custom events of the graph become
 * progress updates. Canceling the task aborts `config.signal`.
 */
export function fromLangGraph<S>(graph: CompiledLangGraph<S>, options: LangGraphOptions<S>): Agent {
  assertKnownOptions(options);
  const {
    toGraphInput = (turn: Turn) => ({ messages: [toHumanMessage(turn.message)] }),
    toAnswer,
    answerNodes = toAnswer ? [] : undefined,
    toProgress = customEventToProgressStatus,
    showReasoning = true,
    showToolCalls = true,
    toGraphConfig = (): LangGraphConfig => ({}),
    afterRestart = "fail",
    ...agentOptions
  } = options;
  const resumes = afterRestart === "resume";
  if (resumes) {
    if (!isCheckpointer(graph.checkpointer) || answerNodes?.length !== 0) throw createCannotResumeError();
    addTurnToCheckpoints(graph.checkpointer);
  }
  async function* work(turn: Turn): AsyncGenerator<AgentYield, void> {
    const graphConfig = toGraphConfig(turn);
    const turnMark = `${turn.taskId}/${turn.message.messageId}`;
    const threadConfig = { thread_id: encodeConversationKey(getConversationKey(turn)) };
    const configurable = {
      ...graphConfig.configurable,
      ...(resumes ? { [CHECKPOINT_TURN_METADATA_KEY]: turnMark } : {}),
      ...threadConfig,
    };
    const stateBefore = graph.checkpointer ? await graph.getState({ configurable }) : undefined;
    const hasStarted = resumes && stateBefore !== undefined && getCheckpointTurnId(stateBefore) === turnMark;
    const interrupts = stateBefore && !hasStarted ? listInterrupts(stateBefore) : [];
    if (interrupts.length > 0 && isFirstTurnInTask(turn)) {
      const [interruptedTask] = await turn.listInterruptedTasks();
      // A graph that receives new input discards its pending interrupts.
      if (interruptedTask) yield failed(formatPendingTaskRefusalReason(interruptedTask.id));
    }
    const isAnswer = interrupts.length > 0 && !isFirstTurnInTask(turn);
    const graphInput = hasStarted
      ? null
      : isAnswer
        ? await createResumeCommand(buildResumeValue(interrupts, turn))
        : toGraphInput(turn);
    const streamMode = ["messages", "custom", "updates", ...(toAnswer ? ["values"] : [])];
    const durability = resumes ? { durability: "sync" } : {};
    const callbacks = turn.reportCall && [createLangChainCallReporter(turn.reportCall)];
    const streamOptions = {
      ...graphConfig,
      ...durability,
      ...(callbacks ? { callbacks } : {}),
      configurable,
      streamMode,
      signal: turn.signal,
    };
    const output = new AgentLoopOutput(turn, { showReasoning, showToolCalls });
    const converter = new GraphEventConverter(output, answerNodes, toProgress);
    let state: unknown;
    // The adapter does not know the graph's types. The input comes from the `toGraphInput` option.
    for await (const event of await graph.stream(graphInput as never, streamOptions as never)) {
      turn.progress();
      if (!Array.isArray(event)) continue;
      const [mode, value] = event as [string, unknown];
      if (mode === "values") state = value;
      else yield* converter.convert(mode, value);
    }
    turn.signal.throwIfAborted();
    const question = converter.buildQuestion();
    const answer = question ? [] : (toAnswer?.(state as S) ?? []);
    yield* Array.isArray(answer) ? answer : [answer];
    yield output.createFinalStatus(question);
  }
  // Restarted output replaces the earlier output.
  return createAdapterAgent({ ...agentOptions, afterRestart: resumes ? "restart" : afterRestart }, work);
}

function createCannotResumeError(): Error {
  return new Error(
    '`afterRestart: "resume"` requires a graph with a checkpointer, the option `toAnswer`, and no `answerNodes`. Add them, or use "restart".',
  );
}

/** Metadata key of the current turn in a checkpoint. */
const CHECKPOINT_TURN_METADATA_KEY = "a2a_turn";

interface Checkpointer {
  put(
    config: { configurable?: Record<string, unknown> },
    checkpoint: unknown,
    metadata: object,
    ...graphConfig: unknown[]
  ): unknown;
}

function isCheckpointer(value: unknown): value is Checkpointer {
  return typeof value === "object" && value !== null && "put" in value && typeof value.put === "function";
}

/** Adds the current turn to each checkpoint, because LangGraph does not store its config in checkpoints. */
function addTurnToCheckpoints(checkpointer: Checkpointer): void {
  const put = checkpointer.put.bind(checkpointer);
  checkpointer.put = (config, checkpoint, metadata, ...graphConfig) => {
    const turn = config.configurable?.[CHECKPOINT_TURN_METADATA_KEY];
    return put(
      config,
      checkpoint,
      turn === undefined ? metadata : { ...metadata, [CHECKPOINT_TURN_METADATA_KEY]: turn },
      ...graphConfig,
    );
  };
}

function getCheckpointTurnId({ metadata }: GraphStateSnapshot): unknown {
  return isObject(metadata) ? metadata[CHECKPOINT_TURN_METADATA_KEY] : undefined;
}

interface Interrupt {
  readonly id: string;
  readonly value: unknown;
}

function listInterrupts({ tasks }: GraphStateSnapshot): Interrupt[] {
  return tasks.flatMap((task) => (isObject(task) ? decodeInterrupts(task["interrupts"]) : []));
}

function decodeInterrupts(value: unknown): Interrupt[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map(({ id, value }) => ({
    id: typeof id === "string" ? id : "",
    value,
  }));
}

/**
 * Returns the value that resumes the graph, which is the message's only data part or the message text. If the
 * user's answer contains interrupt ids, each interrupt receives its own value. An answer without interrupt
 * ids goes to all interrupts.
 */
function buildResumeValue(interrupts: readonly Interrupt[], { message, text }: Turn): unknown {
  const dataParts = message.parts.filter((part): part is DataPart => "data" in part);
  const [onlyData] = dataParts;
  const answer =
    onlyData && dataParts.length === 1
      ? onlyData.data
      : dataParts.length > 1
        ? dataParts.map(({ data }) => data)
        : text;
  const interruptIds = interrupts.map(({ id }) => id);
  if (isObject(answer) && interruptIds.some((id) => id in answer)) return answer;
  return interruptIds.length === 1 ? answer : Object.fromEntries(interruptIds.map((id) => [id, answer]));
}

/** Loads the package of the user only when a graph resumes, because no other part of the adapter needs it. */
async function createResumeCommand(resume: unknown): Promise<unknown> {
  const { Command } = await import("@langchain/langgraph");
  return new Command({ resume });
}

function customEventToProgressStatus(value: unknown): AgentYield | undefined {
  if (typeof value === "string") return status(value);
  const messageText = isObject(value) && typeof value["message"] === "string" ? [value["message"]] : [];
  return value === undefined ? undefined : status(...messageText, data(toJsonValue(value)));
}

/** Converts the events of a LangGraph graph into agent events. */
class GraphEventConverter {
  readonly #output: AgentLoopOutput;
  readonly #answerNodes: readonly string[] | undefined;
  readonly #toProgress: (value: unknown) => AgentYield | undefined;
  readonly #interrupts: Interrupt[] = [];
  readonly #usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  /** The id of the most recently streamed message. */
  #lastMessageId: string | undefined;

  constructor(
    output: AgentLoopOutput,
    answerNodes: readonly string[] | undefined,
    toProgress: (value: unknown) => AgentYield | undefined,
  ) {
    this.#output = output;
    this.#answerNodes = answerNodes;
    this.#toProgress = toProgress;
  }

  *convert(mode: string, value: unknown): Generator<AgentYield, void, undefined> {
    if (mode === "custom") {
      const progressEvent = this.#toProgress(value);
      if (progressEvent !== undefined) yield progressEvent;
    } else if (mode === "messages") yield* this.#convertMessage(value);
    else if (mode === "updates" && isObject(value)) yield* this.#convertUpdates(value);
  }

  /** Returns the question that interrupted the graph, if an interrupt has stopped the graph. */
  buildQuestion(): AgentEvent | undefined {
    if (this.#interrupts.length === 0) return undefined;
    const hasOneInterrupt = this.#interrupts.length === 1;
    const content = this.#interrupts.flatMap(({ id, value }): PartOrText[] => {
      if (typeof value === "string") return hasOneInterrupt ? [value] : [text(value, { interruptId: id })];
      return [data(toJsonValue(value), { interruptId: id })];
    });
    return inputRequired(...content);
  }

  *#convertMessage(value: unknown): Generator<AgentYield, void, undefined> {
    const [rawMessage, messageMetadata] = Array.isArray(value) ? (value as unknown[]) : [];
    const message = parseLangChainMessage(rawMessage);
    if (message?.type !== "ai") return;
    this.#addUsage(message);
    const node = isObject(messageMetadata) ? messageMetadata["langgraph_node"] : undefined;
    if (this.#answerNodes && !(typeof node === "string" && this.#answerNodes.includes(node))) return;
    yield* this.#output.emitReasoning(message.thought);
    if (message.text === "") return;
    // Messages of different model calls become separate paragraphs.
    const isNewMessage = this.#lastMessageId !== undefined && this.#lastMessageId !== message.id;
    this.#lastMessageId = message.id ?? "";
    yield isNewMessage ? `\n\n${message.text}` : message.text;
  }

  *#convertUpdates(updates: Record<string, unknown>): Generator<AgentYield, void, undefined> {
    this.#interrupts.push(...decodeInterrupts(updates["__interrupt__"]));
    for (const update of Object.values(updates)) {
      const messages = isObject(update) ? update["messages"] : undefined;
      for (const rawMessage of Array.isArray(messages) ? (messages as unknown[]) : [messages]) {
        const message = parseLangChainMessage(rawMessage);
        if (message) yield* this.#emitToolCalls(message, isObject(rawMessage) ? rawMessage["content"] : "");
      }
    }
  }

  *#emitToolCalls(
    { type, toolCalls, toolCallId, name: toolName, isError }: LangChainMessage,
    content: unknown,
  ): Generator<AgentYield, void, undefined> {
    if (type === "ai") {
      for (const { id, name, args } of toolCalls)
        yield* this.#output.emitToolCall({ toolCallId: id, toolName: name, input: args });
    } else if (type === "tool" && isError) yield* this.#output.emitToolError(toolCallId, toolName);
    else if (type === "tool") yield* this.#output.emitToolResult(toolCallId, toolName, content);
  }

  #addUsage({ usage }: LangChainMessage): void {
    this.#usage.inputTokens += usage.inputTokens;
    this.#usage.outputTokens += usage.outputTokens;
    this.#usage.totalTokens += usage.totalTokens;
    if (this.#usage.totalTokens > 0) this.#output.setMetadata({ usage: { ...this.#usage } });
  }
}

/** The LangChain message fields that the adapter reads in every LangChain version. */
interface LangChainMessage {
  readonly id: string | undefined;
  readonly type: string;
  readonly text: string;
  readonly thought: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
  /** The id of the tool call whose result the message contains. */
  readonly toolCallId: string;
  readonly name: string;
  readonly isError: boolean;
  readonly usage: Readonly<Record<keyof typeof LANGCHAIN_USAGE_KEYS, number>>;
}

const LANGCHAIN_USAGE_KEYS = {
  inputTokens: "input_tokens",
  outputTokens: "output_tokens",
  totalTokens: "total_tokens",
};

/** Decodes a LangChain message, or returns `undefined` if the value is not a LangChain message. */
function parseLangChainMessage(value: unknown): LangChainMessage | undefined {
  if (!isObject(value) || typeof value["type"] !== "string" || !("content" in value)) return undefined;
  const { id, type, content, tool_calls, tool_call_id, name, status, usage_metadata } = value;
  const blocks =
    typeof content === "string" ? [{ type: "text", text: content }] : filterPlainObjects(content);
  const usage = isObject(usage_metadata) ? usage_metadata : {};
  const getTokenCount = (key: string): number => (typeof usage[key] === "number" ? usage[key] : 0);
  return {
    id: typeof id === "string" ? id : undefined,
    type,
    text: blocks.map((block) => getBlockText(block, "text", "text")).join(""),
    thought: blocks
      .map(
        (block) =>
          getBlockText(block, "reasoning", "reasoning") + getBlockText(block, "thinking", "thinking"),
      )
      .join(""),
    toolCalls: filterPlainObjects(tool_calls).map((call) => ({
      id: toStringOrEmpty(call["id"]),
      name: toStringOrEmpty(call["name"]),
      args: call["args"],
    })),
    toolCallId: toStringOrEmpty(tool_call_id),
    name: toStringOrEmpty(name),
    isError: status === "error",
    usage: {
      inputTokens: getTokenCount(LANGCHAIN_USAGE_KEYS.inputTokens),
      outputTokens: getTokenCount(LANGCHAIN_USAGE_KEYS.outputTokens),
      totalTokens: getTokenCount(LANGCHAIN_USAGE_KEYS.totalTokens),
    },
  };
}

/**
 * Converts an A2A message into a value that LangChain can coerce to a `HumanMessage`. Data parts of the
 * message become JSON text.
 */
function toHumanMessage({ parts }: Pick<Message, "parts">): {
  role: "user";
  content: string | JsonObject[];
} {
  const [onlyPart] = parts;
  const content =
    onlyPart && parts.length === 1 && "text" in onlyPart ? onlyPart.text : parts.map(toContentBlock);
  return { role: "user", content };
}

const MEDIA_BLOCK_TYPES: ReadonlySet<string> = new Set(["image", "audio", "video"]);

/** Converts a part into a standard LangChain content block. */
function toContentBlock(part: Part): JsonObject {
  if ("text" in part) return { type: "text", text: part.text };
  if ("data" in part) return { type: "text", text: JSON.stringify(part.data) };
  const { mediaType = "application/octet-stream", filename } = part;
  const mediaKind = mediaType.split("/", 1)[0] ?? "";
  return {
    type: MEDIA_BLOCK_TYPES.has(mediaKind) ? mediaKind : "file",
    mimeType: mediaType,
    ...("raw" in part ? { data: part.raw } : { url: part.url }),
    ...(filename === undefined ? {} : { metadata: { filename } }),
  };
}

function filterPlainObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function getBlockText(block: Record<string, unknown>, type: string, member: string): string {
  return block["type"] === type ? toStringOrEmpty(block[member]) : "";
}

function toStringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
