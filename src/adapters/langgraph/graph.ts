import { Command } from "@langchain/langgraph";
import type { Agent, AgentDescription } from "../../engine/index.ts";
import { type DataPart, data, type JsonObject, text } from "../../protocol/index.ts";
import {
  isFirstTurn,
  formatPendingTaskMessage,
  encodeConversationKey,
  getConversationKey,
} from "../conversation-store.ts";
import { agent, type Turn } from "../generator.ts";
import { chunk, type PartLike, failed, inputRequired, type AgentYield, status } from "../agent-yield.ts";
import { createUniqueArtifactId } from "../agent-event-iterator.ts";
import { toJson } from "../to-json.ts";
import { decodeMessage, isRecord, type LangChainMessage, toHumanMessage } from "./langchain-message.ts";

/** What is used of a compiled graph; `S` is its state. */
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

/** Given to the graph beside what the adapter gives it (`thread_id`, `signal`, the stream modes). */
export interface LangGraphConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly recursionLimit?: number;
  readonly tags?: string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface LangGraphOptions<S> extends AgentDescription {
  /** What the graph begins with. Default: `{ messages: [the message] }`, as `MessagesAnnotation` has it. */
  toGraphInput?: (turn: Turn) => unknown;
  /**
   * The answer, from the state in which the graph ended; then messages are streamed only from `answerNodes`. Default: what the
   * models in the graph say, streamed.
   */
  toAnswer?: (state: S) => PartLike | PartLike[] | undefined;
  /** The nodes whose messages are the answer. Default: all, or none when there is `toAnswer`. */
  answerNodes?: readonly string[];
  /** What becomes of a custom event (`toGraphConfig.writer(value)`). Default: a string is a status, all else a status with data. */
  toProgress?: (value: unknown) => AgentYield | undefined;
  /** Whether callers are shown what models think, as an artifact of its own. Default: true. */
  showReasoning?: boolean;
  /** Whether callers are shown tool calls and their results, as status updates. Default: true. */
  showToolCalls?: boolean;
  /**
   * What becomes of a turn that was at work when its server stopped. `restart`: the graph is given it again. `resume`: the
   * graph goes on behind the last node that had finished; takes a checkpointer that outlives the process, and `toAnswer`
   * or artifacts from `toProgress`, because what models have said by then is not said again. Default: the task fails.
   */
  afterRestart?: "fail" | "restart" | "resume";
  /** What else the graph is given for a turn. */
  toGraphConfig?: (turn: Turn) => LangGraphConfig;
}

/**
 * A compiled LangGraph graph as an agent. `thread_id` is the contextId (with the caller's name in front, where there is
 * one), so a graph with a checkpointer remembers. An `interrupt(value)` asks for input; the answer, its data part or its
 * text, is what `interrupt` returns. Custom events are progress; a cancellation reaches `toGraphConfig.signal`.
 */
export function fromLangGraph<S>(graph: CompiledLangGraph<S>, options: LangGraphOptions<S>): Agent {
  const {
    toGraphInput = (turn: Turn) => ({ messages: [toHumanMessage(turn.message)] }),
    toAnswer,
    answerNodes = toAnswer ? [] : undefined,
    toProgress = toProgressStatus,
    showReasoning = true,
    showToolCalls = true,
    toGraphConfig = (): LangGraphConfig => ({}),
    afterRestart = "fail",
    ...description
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
      ...(resumes ? { [TURN_KEY]: turnMark } : {}),
      ...threadConfig,
    };
    const stateBefore = graph.checkpointer ? await graph.getState({ configurable }) : undefined;
    const hasStarted = resumes && stateBefore !== undefined && getCheckpointTurn(stateBefore) === turnMark;
    const interrupts = stateBefore && !hasStarted ? listInterrupts(stateBefore) : [];
    if (interrupts.length > 0 && isFirstTurn(turn)) {
      const [interruptedTask] = await turn.listInterruptedTasks();
      // A graph that is given something new forgets what it has asked.
      if (interruptedTask) yield failed(formatPendingTaskMessage(interruptedTask.id));
    }
    const isAnswer = interrupts.length > 0 && !isFirstTurn(turn);
    const graphInput = hasStarted
      ? null
      : isAnswer
        ? new Command({ resume: buildResumeValue(interrupts, turn) })
        : toGraphInput(turn);
    const streamMode = ["messages", "custom", "updates", ...(toAnswer ? ["values"] : [])];
    const durability = resumes ? { durability: "sync" } : {};
    const streamOptions = { ...graphConfig, ...durability, configurable, streamMode, signal: turn.signal };
    const converter = new GraphEventConverter(turn, {
      answerNodes,
      toProgress,
      showReasoning,
      showToolCalls,
    });
    let state: unknown;
    // The types of a graph are its own; what it is given is what its author's `toGraphInput` makes.
    for await (const event of await graph.stream(graphInput as never, streamOptions as never)) {
      if (!Array.isArray(event)) continue;
      const [mode, value] = event as [string, unknown];
      if (mode === "values") state = value;
      else yield* converter.convert(mode, value);
    }
    turn.signal.throwIfAborted();
    const inputRequest = converter.buildInputRequest();
    if (inputRequest) yield inputRequest;
    const finalYields = toAnswer?.(state as S) ?? [];
    yield* Array.isArray(finalYields) ? finalYields : [finalYields];
    yield { status: { state: "TASK_STATE_COMPLETED" }, metadata: converter.metadata };
  }
  // What the graph says again replaces what it had said.
  return agent(description, work, { afterRestart: resumes ? "restart" : afterRestart });
}

function createCannotResumeError(): Error {
  return new Error(
    'A graph can "resume" after a restart when it has a checkpointer and an `answer` (and no `nodes`); use "restart", or give it those.',
  );
}

/** Where a checkpoint says of which turn it is. */
const TURN_KEY = "a2a_turn";

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

/** LangGraph writes nothing of its config into a checkpoint, so that it could not be told whose the last of a thread is. */
function addTurnToCheckpoints(checkpointer: Checkpointer): void {
  const put = checkpointer.put.bind(checkpointer);
  checkpointer.put = (config, checkpoint, metadata, ...graphConfig) => {
    const turn = config.configurable?.[TURN_KEY];
    return put(
      config,
      checkpoint,
      turn === undefined ? metadata : { ...metadata, [TURN_KEY]: turn },
      ...graphConfig,
    );
  };
}

function getCheckpointTurn({ metadata }: GraphStateSnapshot): unknown {
  return isRecord(metadata) ? metadata[TURN_KEY] : undefined;
}

interface Interrupt {
  readonly id: string;
  readonly value: unknown;
}

function listInterrupts({ tasks }: GraphStateSnapshot): Interrupt[] {
  return tasks.flatMap((task) => (isRecord(task) ? decodeInterrupts(task["interrupts"]) : []));
}

function decodeInterrupts(value: unknown): Interrupt[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map(({ id, value }) => ({
    id: typeof id === "string" ? id : "",
    value,
  }));
}

/** The one data part of the answer, or its text; of several interrupts each by its id, or all the same. */
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
  if (isRecord(answer) && interruptIds.some((id) => id in answer)) return answer;
  return interruptIds.length === 1 ? answer : Object.fromEntries(interruptIds.map((id) => [id, answer]));
}

function toProgressStatus(value: unknown): AgentYield | undefined {
  if (typeof value === "string") return status(value);
  const messageText = isRecord(value) && typeof value["message"] === "string" ? [value["message"]] : [];
  return value === undefined ? undefined : status(...messageText, data(toJson(value)));
}

interface GraphOutputOptions {
  readonly answerNodes: readonly string[] | undefined;
  readonly toProgress: (value: unknown) => AgentYield | undefined;
  readonly showReasoning: boolean;
  readonly showToolCalls: boolean;
}

/** The events of a graph as what an agent says. */
class GraphEventConverter {
  readonly #options: GraphOutputOptions;
  readonly #reasoningArtifactId: string;
  readonly #interrupts: Interrupt[] = [];
  readonly #usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  /** The message that spoke last. */
  #lastMessageId: string | undefined;

  constructor(turn: Turn, options: GraphOutputOptions) {
    this.#options = options;
    this.#reasoningArtifactId = createUniqueArtifactId(turn, "reasoning");
  }

  get metadata(): JsonObject {
    return this.#usage.totalTokens > 0 ? { usage: { ...this.#usage } } : {};
  }

  *convert(mode: string, value: unknown): Generator<AgentYield, void, undefined> {
    if (mode === "custom") {
      const progressEvent = this.#options.toProgress(value);
      if (progressEvent !== undefined) yield progressEvent;
    } else if (mode === "messages") yield* this.#convertMessage(value);
    else if (mode === "updates" && isRecord(value)) yield* this.#convertUpdates(value);
  }

  /** What the graph waits for, when it has stopped to ask. */
  buildInputRequest(): AgentYield | undefined {
    if (this.#interrupts.length === 0) return undefined;
    const hasOneInterrupt = this.#interrupts.length === 1;
    const content = this.#interrupts.flatMap(({ id, value }): PartLike[] => {
      if (typeof value === "string") return hasOneInterrupt ? [value] : [text(value, { interruptId: id })];
      return [data(toJson(value), { interruptId: id })];
    });
    return { ...inputRequired(...content), metadata: this.metadata };
  }

  *#convertMessage(value: unknown): Generator<AgentYield, void, undefined> {
    const [rawMessage, messageMetadata] = Array.isArray(value) ? (value as unknown[]) : [];
    const message = decodeMessage(rawMessage);
    if (message?.type !== "ai") return;
    this.#addUsage(message);
    const { answerNodes, showReasoning } = this.#options;
    const node = isRecord(messageMetadata) ? messageMetadata["langgraph_node"] : undefined;
    if (answerNodes && !(typeof node === "string" && answerNodes.includes(node))) return;
    if (message.thought !== "" && showReasoning) {
      const artifact = { id: this.#reasoningArtifactId, name: "reasoning", metadata: { thought: true } };
      yield chunk(artifact, text(message.thought));
    }
    if (message.text === "") return;
    // What two models say are two paragraphs.
    const isNewMessage = this.#lastMessageId !== undefined && this.#lastMessageId !== message.id;
    this.#lastMessageId = message.id ?? "";
    yield isNewMessage ? `\n\n${message.text}` : message.text;
  }

  *#convertUpdates(updates: Record<string, unknown>): Generator<AgentYield, void, undefined> {
    this.#interrupts.push(...decodeInterrupts(updates["__interrupt__"]));
    if (!this.#options.showToolCalls) return;
    for (const update of Object.values(updates)) {
      const messages = isRecord(update) ? update["messages"] : undefined;
      for (const rawMessage of Array.isArray(messages) ? (messages as unknown[]) : [messages]) {
        const message = decodeMessage(rawMessage);
        if (message) yield* toToolStatuses(message, rawMessage);
      }
    }
  }

  #addUsage({ usage }: LangChainMessage): void {
    this.#usage.inputTokens += usage.inputTokens;
    this.#usage.outputTokens += usage.outputTokens;
    this.#usage.totalTokens += usage.totalTokens;
  }
}

function* toToolStatuses(
  message: LangChainMessage,
  rawMessage: unknown,
): Generator<AgentYield, void, undefined> {
  const { type, toolCalls, toolCallId, name: toolName, isError } = message;
  if (type === "ai") {
    for (const { id, name, args } of toolCalls) {
      yield status(data({ type: "tool-call", toolCallId: id, toolName: name, input: toJson(args) }));
    }
  } else if (type === "tool") {
    const content = isRecord(rawMessage) ? rawMessage["content"] : undefined;
    // Why it failed is between the tool and the model.
    const resultData = isError ? { type: "tool-error" } : { type: "tool-result", output: toJson(content) };
    yield status(data({ ...resultData, toolCallId, toolName }));
  }
}
