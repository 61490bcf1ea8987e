import { isObject, type JsonObject } from "../../../protocol/index.ts";
import type { AgentLoopOutput } from "../agent-loop-output.ts";
import type { AgentYield } from "../agent-yield.ts";

/** A tool call that Claude has deferred until its user decides. */
export interface DeferredToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** The result of one turn of Claude. */
export interface ClaudeResult {
  /** The reason why the turn ended, for example `completed` or `tool_deferred_unavailable`. */
  readonly terminalReason: string;
  readonly deferredToolUse: DeferredToolUse | undefined;
  /** The errors of a failed turn, or `undefined`. */
  readonly errorText: string | undefined;
  /** The text of the answer. */
  readonly text: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Decodes a result message of the Claude Agent SDK, or returns `undefined` for any other message. */
export function decodeClaudeResult(message: unknown): ClaudeResult | undefined {
  if (!isObject(message) || message["type"] !== "result") return undefined;
  const { subtype, is_error, result, errors, terminal_reason, deferred_tool_use, usage } = message;
  const hasFailed = subtype !== "success" || is_error === true;
  const count = (name: string): number => Number((isObject(usage) && usage[name]) || 0);
  return {
    terminalReason: toText(terminal_reason),
    deferredToolUse: isObject(deferred_tool_use)
      ? {
          id: toText(deferred_tool_use["id"]),
          name: toText(deferred_tool_use["name"]),
          input: isObject(deferred_tool_use["input"]) ? deferred_tool_use["input"] : {},
        }
      : undefined,
    errorText: hasFailed
      ? Array.isArray(errors)
        ? errors.map(toText).join(" ")
        : toText(result)
      : undefined,
    text: toText(result),
    // Anthropic counts the tokens of its cache separately.
    inputTokens:
      count("input_tokens") + count("cache_creation_input_tokens") + count("cache_read_input_tokens"),
    outputTokens: count("output_tokens"),
  };
}

/**
 * Converts the messages of one `query` of the Claude Agent SDK into values that a generator agent yields. The
 * output of subagents is not part of the answer.
 */
export class ClaudeMessageConverter {
  readonly #output: AgentLoopOutput;
  /** The names of the tools by the id of their call, because a result contains only the id. */
  readonly #toolNames = new Map<string, string>();

  constructor(output: AgentLoopOutput) {
    this.#output = output;
  }

  *convert(message: unknown): Generator<AgentYield, void, undefined> {
    if (!isObject(message) || typeof message["parent_tool_use_id"] === "string") return;
    if (message["type"] === "stream_event" && isObject(message["event"])) {
      yield* this.#convertDelta(message["event"]["delta"]);
    } else if (message["type"] === "assistant" || message["type"] === "user") {
      const content = isObject(message["message"]) ? message["message"]["content"] : undefined;
      if (Array.isArray(content)) for (const block of content) yield* this.#convertToolBlock(block);
    }
  }

  *#convertDelta(delta: unknown): Generator<AgentYield, void, undefined> {
    if (!isObject(delta)) return;
    if (delta["type"] === "text_delta") yield* this.#output.emitText(toText(delta["text"]));
    else if (delta["type"] === "thinking_delta") yield* this.#output.emitReasoning(toText(delta["thinking"]));
  }

  *#convertToolBlock(block: unknown): Generator<AgentYield, void, undefined> {
    if (!isObject(block)) return;
    if (block["type"] === "tool_use") {
      const [toolCallId, toolName] = [toText(block["id"]), toText(block["name"])];
      this.#toolNames.set(toolCallId, toolName);
      yield* this.#output.emitToolCall({ toolCallId, toolName, input: block["input"] });
    } else if (block["type"] === "tool_result") {
      const toolCallId = toText(block["tool_use_id"]);
      const toolName = this.#toolNames.get(toolCallId) ?? "";
      if (block["is_error"] === true) yield* this.#output.emitToolError(toolCallId, toolName);
      else yield* this.#output.emitToolResult(toolCallId, toolName, block["content"]);
    }
  }
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
