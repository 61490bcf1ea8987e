/**
 * Models of the AI SDK, Mastra, and LangChain that follow a script. The tests for ADK and for the OpenAI Agents SDK use `ScriptedLlm` of `colloquy/adk` and `ScriptedModel` of `@openai/agents/testing`.
 */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import type { MastraModelConfig } from "@mastra/core/llm";
import { simulateReadableStream } from "ai";
import { MockLanguageModelV4 } from "ai/test";

/** A text, or a call of a tool. */
export type ScriptedReply = string | { readonly call: string; readonly input: object };

/** Returns the next reply of a script with each call. After the last reply, throws. */
function createScript(replies: readonly ScriptedReply[]): () => ScriptedReply {
  let count = 0;
  return () => {
    const reply = replies[count++];
    if (reply === undefined) throw new Error(`The script contains no reply number ${count}.`);
    return reply;
  };
}

/** Returns a model of the AI SDK. */
export function scriptedModel(...replies: ScriptedReply[]): MockLanguageModelV4 {
  const next = createScript(replies);
  const usage = {
    inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 },
  };
  const finish = (unified: "stop" | "tool-calls") =>
    ({ type: "finish", finishReason: { unified, raw: undefined }, usage }) as const;
  return new MockLanguageModelV4({
    doStream: async () => {
      const reply = next();
      if (typeof reply !== "string") {
        const input = JSON.stringify(reply.input);
        const call = {
          type: "tool-call",
          toolCallId: crypto.randomUUID(),
          toolName: reply.call,
          input,
        } as const;
        return { stream: simulateReadableStream({ chunks: [call, finish("tool-calls")] }) };
      }
      const text = [
        { type: "text-start", id: "1" } as const,
        { type: "text-delta", id: "1", delta: reply } as const,
        { type: "text-end", id: "1" } as const,
      ];
      return { stream: simulateReadableStream({ chunks: [...text, finish("stop")] }) };
    },
  });
}

/** Returns a model of Mastra, whose types come from another release of the provider interface. */
export function scriptedMastraModel(...replies: ScriptedReply[]): MastraModelConfig {
  return scriptedModel(...replies) as MastraModelConfig;
}

/** A chat model of LangChain. */
export class ScriptedChatModel extends BaseChatModel {
  readonly #next: () => ScriptedReply;

  constructor(...replies: ScriptedReply[]) {
    super({});
    this.#next = createScript(replies);
  }

  _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  async _generate(): Promise<ChatResult> {
    const reply = this.#next();
    const text = typeof reply === "string" ? reply : "";
    const tool_calls =
      typeof reply === "string"
        ? []
        : [{ id: crypto.randomUUID(), name: reply.call, args: { ...reply.input } }];
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls }) }] };
  }
}
