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
    const more = toGraphConfig(turn);
    const mark = `${turn.taskId}/${turn.message.messageId}`;
    const thread = { thread_id: encodeConversationKey(getConversationKey(turn)) };
    const configurable = { ...more.configurable, ...(resumes ? { [TURN_KEY]: mark } : {}), ...thread };
    const before = graph.checkpointer ? await graph.getState({ configurable }) : undefined;
    const isBegun = resumes && before !== undefined && getCheckpointTurn(before) === mark;
    const interrupts = before && !isBegun ? listInterrupts(before) : [];
    if (interrupts.length > 0 && isFirstTurn(turn)) {
      const [waiting] = await turn.listInterruptedTasks();
      // A graph that is given something new forgets what it has asked.
      if (waiting) yield failed(formatPendingTaskMessage(waiting.id));
    }
    const goesOn = interrupts.length > 0 && !isFirstTurn(turn);
    const given = isBegun
      ? null
      : goesOn
        ? new Command({ resume: buildResumeValue(interrupts, turn) })
        : toGraphInput(turn);
    const streamMode = ["messages", "custom", "updates", ...(toAnswer ? ["values"] : [])];
    const durability = resumes ? { durability: "sync" } : {};
    const how = { ...more, ...durability, configurable, streamMode, signal: turn.signal };
    const telling = new GraphEventConverter(turn, {
      answerNodes,
      toProgress,
      showReasoning,
      showToolCalls,
    });
    let state: unknown;
    // The types of a graph are its own; what it is given is what its author's `toGraphInput` makes.
    for await (const event of await graph.stream(given as never, how as never)) {
      if (!Array.isArray(event)) continue;
      const [mode, value] = event as [string, unknown];
      if (mode === "values") state = value;
      else yield* telling.convert(mode, value);
    }
    turn.signal.throwIfAborted();
    const asked = telling.buildInputRequest();
    if (asked) yield asked;
    const last = toAnswer?.(state as S) ?? [];
    yield* Array.isArray(last) ? last : [last];
    yield { status: { state: "TASK_STATE_COMPLETED" }, metadata: telling.metadata };
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
    ...more: unknown[]
  ): unknown;
}

function isCheckpointer(value: unknown): value is Checkpointer {
  return typeof value === "object" && value !== null && "put" in value && typeof value.put === "function";
}

/** LangGraph writes nothing of its config into a checkpoint, so that it could not be told whose the last of a thread is. */
function addTurnToCheckpoints(checkpointer: Checkpointer): void {
  const put = checkpointer.put.bind(checkpointer);
  checkpointer.put = (config, checkpoint, metadata, ...more) => {
    const turn = config.configurable?.[TURN_KEY];
    return put(
      config,
      checkpoint,
      turn === undefined ? metadata : { ...metadata, [TURN_KEY]: turn },
      ...more,
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
  const given = message.parts.filter((part): part is DataPart => "data" in part);
  const [only] = given;
  const answer =
    only && given.length === 1 ? only.data : given.length > 1 ? given.map(({ data }) => data) : text;
  const ids = interrupts.map(({ id }) => id);
  if (isRecord(answer) && ids.some((id) => id in answer)) return answer;
  return ids.length === 1 ? answer : Object.fromEntries(ids.map((id) => [id, answer]));
}

function toProgressStatus(value: unknown): AgentYield | undefined {
  if (typeof value === "string") return status(value);
  const words = isRecord(value) && typeof value["message"] === "string" ? [value["message"]] : [];
  return value === undefined ? undefined : status(...words, data(toJson(value)));
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

  constructor(turn: Turn, shown: GraphOutputOptions) {
    this.#options = shown;
    this.#reasoningArtifactId = createUniqueArtifactId(turn, "reasoning");
  }

  get metadata(): JsonObject {
    return this.#usage.totalTokens > 0 ? { usage: { ...this.#usage } } : {};
  }

  *convert(mode: string, value: unknown): Generator<AgentYield, void, undefined> {
    if (mode === "custom") {
      const said = this.#options.toProgress(value);
      if (said !== undefined) yield said;
    } else if (mode === "messages") yield* this.#convertMessage(value);
    else if (mode === "updates" && isRecord(value)) yield* this.#convertUpdates(value);
  }

  /** What the graph waits for, when it has stopped to ask. */
  buildInputRequest(): AgentYield | undefined {
    if (this.#interrupts.length === 0) return undefined;
    const isOne = this.#interrupts.length === 1;
    const content = this.#interrupts.flatMap(({ id, value }): PartLike[] => {
      if (typeof value === "string") return isOne ? [value] : [text(value, { interruptId: id })];
      return [data(toJson(value), { interruptId: id })];
    });
    return { ...inputRequired(...content), metadata: this.metadata };
  }

  *#convertMessage(value: unknown): Generator<AgentYield, void, undefined> {
    const [given, about] = Array.isArray(value) ? (value as unknown[]) : [];
    const message = decodeMessage(given);
    if (message?.type !== "ai") return;
    this.#addUsage(message);
    const { answerNodes, showReasoning } = this.#options;
    const node = isRecord(about) ? about["langgraph_node"] : undefined;
    if (answerNodes && !(typeof node === "string" && answerNodes.includes(node))) return;
    if (message.thought !== "" && showReasoning) {
      const artifact = { id: this.#reasoningArtifactId, name: "reasoning", metadata: { thought: true } };
      yield chunk(artifact, text(message.thought));
    }
    if (message.text === "") return;
    // What two models say are two paragraphs.
    const isOther = this.#lastMessageId !== undefined && this.#lastMessageId !== message.id;
    this.#lastMessageId = message.id ?? "";
    yield isOther ? `\n\n${message.text}` : message.text;
  }

  *#convertUpdates(updates: Record<string, unknown>): Generator<AgentYield, void, undefined> {
    this.#interrupts.push(...decodeInterrupts(updates["__interrupt__"]));
    if (!this.#options.showToolCalls) return;
    for (const update of Object.values(updates)) {
      const messages = isRecord(update) ? update["messages"] : undefined;
      for (const given of Array.isArray(messages) ? (messages as unknown[]) : [messages]) {
        const message = decodeMessage(given);
        if (message) yield* toToolStatuses(message, given);
      }
    }
  }

  #addUsage({ usage }: LangChainMessage): void {
    this.#usage.inputTokens += usage.inputTokens;
    this.#usage.outputTokens += usage.outputTokens;
    this.#usage.totalTokens += usage.totalTokens;
  }
}

function* toToolStatuses(message: LangChainMessage, given: unknown): Generator<AgentYield, void, undefined> {
  const { type, toolCalls, toolCallId, name: toolName, isError } = message;
  if (type === "ai") {
    for (const { id, name, args } of toolCalls) {
      yield status(data({ type: "tool-call", toolCallId: id, toolName: name, input: toJson(args) }));
    }
  } else if (type === "tool") {
    const content = isRecord(given) ? given["content"] : undefined;
    // Why it failed is between the tool and the model.
    const said = isError ? { type: "tool-error" } : { type: "tool-result", output: toJson(content) };
    yield status(data({ ...said, toolCallId, toolName }));
  }
}
