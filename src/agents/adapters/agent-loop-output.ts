import type { AgentEvent } from "../../engine/index.ts";
import { data, type DataPart, type JsonObject, text } from "../../protocol/index.ts";
import { createUniqueArtifactId } from "./agent-event-iterator.ts";
import { type AgentYield, chunk, inputRequired, status } from "./agent-yield.ts";
import type { Turn } from "./generator-agent.ts";
import { toJsonValue } from "./to-json-value.ts";

/** Options of an adapter that determine which output of an agent loop the callers receive. */
export interface AgentLoopOutputOptions {
  /** Whether callers receive the model's reasoning as a separate artifact. Default: true. */
  showReasoning?: boolean;
  /** Whether callers receive tool calls and their results as status updates. Default: true. */
  showToolCalls?: boolean;
}

/** A call of a tool by a model. */
export interface ModelToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/**
 * Converts the output of a framework's agent loop into values that a generator agent yields, in the same
 * format for every framework. The object belongs to a single turn.
 */
export class AgentLoopOutput {
  readonly #options: Required<AgentLoopOutputOptions>;
  readonly #reasoningArtifactId: string;
  readonly #toolsToApprove: string[] = [];
  readonly #approvalRequests: DataPart[] = [];
  #metadata: JsonObject = {};
  #answerText = "";
  #needsParagraphBreak = false;

  constructor(turn: Turn, options: Required<AgentLoopOutputOptions>) {
    this.#options = options;
    this.#reasoningArtifactId = createUniqueArtifactId(turn, "reasoning");
  }

  /** The text that this turn has emitted as its answer. */
  get answerText(): string {
    return this.#answerText;
  }

  /** Emits text of the answer. Text before and after a tool call becomes separate paragraphs. */
  *emitText(delta: string): Generator<AgentYield, void, undefined> {
    if (delta === "") return;
    const textToEmit = this.#needsParagraphBreak && this.#answerText !== "" ? `\n\n${delta}` : delta;
    this.#needsParagraphBreak = false;
    this.#answerText += textToEmit;
    yield textToEmit;
  }

  *emitReasoning(delta: string): Generator<AgentYield, void, undefined> {
    if (delta === "" || !this.#options.showReasoning) return;
    yield chunk(
      { id: this.#reasoningArtifactId, name: "reasoning", metadata: { thought: true } },
      text(delta),
    );
  }

  *emitToolCall({ toolCallId, toolName, input }: ModelToolCall): Generator<AgentYield, void, undefined> {
    this.#needsParagraphBreak = true;
    yield* this.#emitToolStatus({ type: "tool-call", toolCallId, toolName, input: toJsonValue(input) });
  }

  *emitToolResult(
    toolCallId: string,
    toolName: string,
    output: unknown,
  ): Generator<AgentYield, void, undefined> {
    yield* this.#emitToolStatus({ type: "tool-result", toolCallId, toolName, output: toJsonValue(output) });
  }

  /** Emits a failed tool call. The error message may reveal internals, so callers do not receive it. */
  *emitToolError(toolCallId: string, toolName: string): Generator<AgentYield, void, undefined> {
    yield* this.#emitToolStatus({ type: "tool-error", toolCallId, toolName });
  }

  /** Sets the metadata of the final status, such as the token usage. */
  setMetadata(metadata: JsonObject): void {
    this.#metadata = metadata;
  }

  setUsage({ inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }): void {
    this.setMetadata({ usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens } });
  }

  /**
   * Ends the turn with a request for the user's approval of a tool call. `extraFields` are additional fields
   * of the data part, which the next turn finds in the task's history.
   */
  requestApproval({ toolCallId, toolName, input }: ModelToolCall, extraFields: JsonObject = {}): void {
    const request = { approvalId: toolCallId, toolCallId, toolName, input: toJsonValue(input) };
    this.#toolsToApprove.push(toolName);
    this.#approvalRequests.push(data({ type: "tool-approval-request", ...request, ...extraFields }));
  }

  /** Returns the status that ends the turn: INPUT_REQUIRED if the user must approve tool calls. */
  createFinalStatus(question?: AgentEvent): AgentEvent {
    const metadata = this.#metadata;
    if (question) return { ...question, metadata };
    if (this.#approvalRequests.length === 0) return { status: { state: "TASK_STATE_COMPLETED" }, metadata };
    const toolNames = this.#toolsToApprove.join(", ");
    return { ...inputRequired(`May ${toolNames} be called?`, ...this.#approvalRequests), metadata };
  }

  *#emitToolStatus(content: JsonObject): Generator<AgentYield, void, undefined> {
    if (this.#options.showToolCalls) yield status(data(content));
  }
}
