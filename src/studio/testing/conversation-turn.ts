import type { AgentCallReport } from "../../engine/index.ts";
import {
  type Artifact,
  copyTask,
  fold,
  formatTaskState,
  getText,
  isEventRefusal,
  isInterrupted,
  type StreamResponse,
  type Task,
} from "../../protocol/index.ts";
import { listToolCalls, type ToolCall } from "./tool-calls.ts";

/** Tokens of all model calls of a turn. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What an agent did in response to one message. */
export interface ConversationTurn {
  /** The text of the message. */
  readonly input: string;
  /** The last state of the task in lower case, such as `completed` or `input-required`, or `none` without a task. */
  readonly state: string;
  /**
   * The states of the task in order, without repetitions. The first states depend on the speed of the agent: the first
   * event of a stream contains the newest state.
   */
  readonly states: readonly string[];
  /** The text of all artifacts of the turn. If there is none, the text of the last status or of the reply. */
  readonly text: string;
  /** The question of an agent that waits for its user. */
  readonly question: string | undefined;
  /** The artifacts of the turn. */
  readonly artifacts: readonly Artifact[];
  /**
   * The reported calls of models and tools in the order of their ends. Undefined behind a URL, because A2A does not
   * report calls. An agent in the process reports the calls that its framework can observe.
   */
  readonly calls: readonly AgentCallReport[] | undefined;
  /**
   * The calls of tools in the order in which an ADK agent made them, also behind a URL. Other agents report their calls,
   * in the order of their ends, so that their calls are undefined behind a URL.
   */
  readonly toolCalls: readonly ToolCall[] | undefined;
  /** Undefined if no model call has reported its tokens. */
  readonly tokens: TokenUsage | undefined;
  /** The error that an agent in the process threw. The caller of an agent receives only an error id. */
  readonly error: unknown;
  /** The task after the turn. Undefined if the agent replied with a message. */
  readonly task: Task | undefined;
}

/** Collects the stream events of one turn. */
export class TurnCollector {
  readonly #input: string;
  readonly #states: string[] = [];
  readonly #calls: AgentCallReport[] = [];
  readonly #previousTask: Task | undefined;
  #task: Task | undefined;
  #reply: string | undefined;
  #error: unknown;

  /** `previousTask` is the task before the message, if the message continues a task. */
  constructor(input: string, previousTask: Task | undefined) {
    this.#input = input;
    this.#previousTask = previousTask;
    // The stream of a message to an existing task begins with an update.
    this.#task = previousTask && copyTask(previousTask);
  }

  addCall(call: AgentCallReport): void {
    this.#calls.push(call);
  }

  addError(error: unknown): void {
    this.#error ??= error;
  }

  addEvent(event: StreamResponse): void {
    if ("task" in event) this.#task = copyTask(event.task);
    else if ("message" in event) {
      if (event.message.role === "ROLE_AGENT") this.#reply = getText(event.message.parts);
    } else {
      const folded = this.#task && fold(this.#task, event);
      if (folded && !isEventRefusal(folded)) this.#task = folded;
    }
    const state = this.#task && formatTaskState(this.#task.status.state);
    if (state !== undefined && this.#states.at(-1) !== state) this.#states.push(state);
  }

  /** Returns the turn. `hasCalls` is true if the agent runs in the process, so that its calls are known. */
  finish(hasCalls: boolean): ConversationTurn {
    const task = this.#task;
    const status = task?.status;
    const statusText = getText(status?.message?.parts ?? []);
    const artifacts = findChangedArtifacts(task, this.#previousTask);
    const calls = hasCalls ? this.#calls : undefined;
    const parts = artifacts.flatMap((artifact) => artifact.parts).concat(status?.message?.parts ?? []);
    const answer = artifacts
      .map(({ parts }) => getText(parts))
      .filter((text) => text !== "")
      .join("\n");
    return {
      input: this.#input,
      state: this.#states.at(-1) ?? "none",
      states: this.#states,
      text: answer === "" ? (this.#reply ?? statusText) : answer,
      question: status && isInterrupted(status.state) ? statusText : undefined,
      artifacts,
      calls,
      toolCalls: listToolCalls(parts, calls),
      tokens: sumTokens(this.#calls),
      error: this.#error,
      task,
    };
  }
}

/** Returns the artifacts of a turn. A stream can begin with a task that contains some of them. */
function findChangedArtifacts(task: Task | undefined, previous: Task | undefined): Artifact[] {
  const earlier = new Map(previous?.artifacts?.map((artifact) => [artifact.artifactId, artifact]));
  return (task?.artifacts ?? []).filter(
    (artifact) => JSON.stringify(artifact) !== JSON.stringify(earlier.get(artifact.artifactId)),
  );
}

function sumTokens(calls: readonly AgentCallReport[]): TokenUsage | undefined {
  let usage: TokenUsage | undefined;
  for (const call of calls) {
    if (call.kind !== "model" || (call.inputTokens === undefined && call.outputTokens === undefined))
      continue;
    const { inputTokens, outputTokens } = usage ?? { inputTokens: 0, outputTokens: 0 };
    usage = {
      inputTokens: inputTokens + (call.inputTokens ?? 0),
      outputTokens: outputTokens + (call.outputTokens ?? 0),
    };
  }
  return usage;
}
