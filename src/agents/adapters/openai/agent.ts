import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, TurnPolicy } from "../../../engine/index.ts";
import { data, type JsonObject, type JsonValue, text } from "../../../protocol/index.ts";
import {
  type ConversationStore,
  buildConversationFromTask,
  getConversationKey,
  createMemoryConversationStore,
} from "../conversation-store.ts";
import { ADAPTER_OPTION_NAMES, createAdapterAgent, type Turn } from "../generator-agent.ts";
import { type AgentYield, chunk } from "../agent-yield.ts";
import { createUniqueArtifactId } from "../agent-event-iterator.ts";
import { decodeChunk, type ToolCallDelta } from "./completion-chunk.ts";
import { streamCompletion } from "./completion.ts";
import { type ChatMessage, toAssistantMessage, toUserMessage } from "./messages.ts";

/** Options for `fromOpenAi`. */
export interface OpenAiOptions extends Partial<AgentDescription>, TurnPolicy {
  /**
   * The base URL of the API without `/chat/completions`, for example `https://api.openai.com/v1` or
   * `http://127.0.0.1:11434/v1`.
   */
  baseUrl: string;
  model: string;
  /** The API key, which is sent as a bearer token. Default: none. */
  apiKey?: string;
  /** The system message at the start of every conversation with the model. */
  instructions?: string;
  /** Additional HTTP headers for every request to the endpoint. */
  headers?: Readonly<Record<string, string>>;
  /** Additional fields of the request body, for example `temperature` or `tools`. */
  extraBody?: JsonObject;
  /**
   * The store for the messages of earlier turns. By default, the store keeps the last 1,000 conversations in
   * memory, with the newest 200 messages of each.
   */
  conversationStore?: ConversationStore<ChatMessage>;
  /** Whether callers receive the model's reasoning as a separate artifact. Default: true. */
  showReasoning?: boolean;
  /**
   * Determines whether the last chunk of the streamed answer repeats the entire answer (`whole`) or contains
   * only new content (`pieces`). The function `agent` has the same option. Default: `whole`.
   */
  artifacts?: "whole" | "pieces";
  /**
   * Maximum number of retries after a network error or a response with status 408, 429, or 5xx. Default: 2.
   */
  maxRetries?: number;
  /**
   * Maximum delay in milliseconds before a retry. If the endpoint requests a longer delay with `Retry-After`,
   * the turn fails without a retry. Default: 30,000.
   */
  maxRetryDelayMs?: number;
  /** The `fetch` function that sends the HTTP requests. Default: the global `fetch`. */
  fetch?: typeof fetch;
}

const assertKnownOptions = defineOptionNames<OpenAiOptions>()(
  "fromOpenAi",
  ADAPTER_OPTION_NAMES,
  "apiKey baseUrl conversationStore extraBody fetch headers instructions maxRetries maxRetryDelayMs model showReasoning",
);

/**
 * Creates an agent from a model behind an OpenAI-compatible endpoint. The adapter streams the model's text as
 * the answer. The metadata of the final status contains the token usage. The adapter does not execute the
 * tools in `extraBody.tools`. Tool calls of the model become data parts of the answer, so that the caller can
 * execute them.
 */
export function fromOpenAi(options: OpenAiOptions): Agent {
  assertKnownOptions(options);
  const {
    baseUrl,
    model,
    apiKey,
    instructions,
    headers,
    extraBody,
    conversationStore = createMemoryConversationStore<ChatMessage>(({ role }) => role === "user"),
    showReasoning = true,
    maxRetries = 2,
    maxRetryDelayMs = 30_000,
    fetch,
    ...agentOptions
  } = options;
  if (!URL.canParse(baseUrl)) {
    throw new TypeError(
      `baseUrl ${JSON.stringify(baseUrl)} is not a valid URL. Use a URL such as "https://api.openai.com/v1".`,
    );
  }
  const endpoint = { baseUrl, apiKey, headers, fetch, maxRetries, maxRetryDelayMs };
  const system: ChatMessage[] = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  async function* work(turn: Turn): AsyncGenerator<AgentYield, void, undefined> {
    const conversationKey = getConversationKey(turn);
    const storedMessages = await conversationStore.load(conversationKey);
    const earlierMessages =
      storedMessages.length > 0
        ? storedMessages
        : buildConversationFromTask(turn, toUserMessage, toAssistantMessage);
    const userMessage = toUserMessage(turn.message);
    const messages = [...system, ...earlierMessages, userMessage] as unknown as JsonValue;
    const request = { stream_options: { include_usage: true }, ...extraBody, model, messages, stream: true };
    const reasoningArtifact = {
      id: createUniqueArtifactId(turn, "reasoning"),
      name: "reasoning",
      metadata: { thought: true },
    };
    const accumulator = new ToolCallAccumulator();
    const metadata: JsonObject = {};
    let answerText = "";
    for await (const rawChunk of streamCompletion(endpoint, request, turn.signal)) {
      turn.progress();
      const { text: textDelta, thought, toolCalls, finishReason, usage } = decodeChunk(rawChunk);
      if (thought !== "" && showReasoning) yield chunk(reasoningArtifact, text(thought));
      if (textDelta !== "") yield textDelta;
      answerText += textDelta;
      accumulator.add(toolCalls);
      if (finishReason) metadata["finishReason"] = finishReason;
      if (usage) metadata["usage"] = usage;
    }
    yield* accumulator.toParts();
    await conversationStore.append(conversationKey, [userMessage, toAssistantMessage(answerText)]);
    yield { status: { state: "TASK_STATE_COMPLETED" }, metadata };
  }
  return createAdapterAgent({ name: model, description: `The model ${model}`, ...agentOptions }, work);
}

/** Joins the streamed fragments of tool calls. */
class ToolCallAccumulator {
  readonly #calls = new Map<number, { id: string; name: string; input: string }>();

  add(deltas: readonly ToolCallDelta[]): void {
    for (const { index, id, name, input } of deltas) {
      const call = this.#calls.get(index) ?? { id: "", name: "", input: "" };
      this.#calls.set(index, { id: call.id || id, name: call.name || name, input: call.input + input });
    }
  }

  *toParts(): Generator<ReturnType<typeof data>, void, undefined> {
    for (const { id, name, input } of this.#calls.values()) {
      yield data({ type: "tool-call", toolCallId: id, toolName: name, input: parseToolInput(input) });
    }
  }
}

/**
 * Parses the arguments of a tool call. If a model has produced invalid JSON, the function returns the text.
 */
function parseToolInput(input: string): JsonValue {
  try {
    return input === "" ? {} : (JSON.parse(input) as JsonValue);
  } catch {
    return input;
  }
}
