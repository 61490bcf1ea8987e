import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { MockLanguageModelV4 } from "ai/test";

type LanguageModelPrompt = LanguageModelV4CallOptions["prompt"];

/** The scripted response of a model to a prompt: text, a tool call, or any stream part. */
export type ModelScript = (
  prompt: LanguageModelPrompt,
  signal: AbortSignal | undefined,
) => Iterable<string | LanguageModelV4StreamPart> | AsyncIterable<string | LanguageModelV4StreamPart>;

const SCRIPTED_TOKEN_USAGE = {
  inputTokens: { total: 3, noCache: 1, cacheRead: 2, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

/** A model of the AI SDK that follows a script. */
export function createScriptedModel(script: ModelScript): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: ({ prompt, abortSignal }) =>
      Promise.resolve({
        stream: ReadableStream.from(scriptOutputToStreamParts(script(prompt, abortSignal))),
      }),
  });
}

async function* scriptOutputToStreamParts(
  output: ReturnType<ModelScript>,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: [] };
  let reason: "stop" | "tool-calls" = "stop";
  let isOpen = false;
  for await (const part of output) {
    if (typeof part === "string") {
      if (!isOpen) yield { type: "text-start", id: "t" };
      isOpen = true;
      yield { type: "text-delta", id: "t", delta: part };
      continue;
    }
    if (isOpen) yield { type: "text-end", id: "t" };
    isOpen = false;
    if (part.type === "tool-call") reason = "tool-calls";
    yield part;
  }
  if (isOpen) yield { type: "text-end", id: "t" };
  yield { type: "finish", finishReason: { unified: reason, raw: undefined }, usage: SCRIPTED_TOKEN_USAGE };
}

/** Returns the text of all user messages in a prompt. */
export function listUserTexts(prompt: LanguageModelPrompt): string[] {
  return prompt.flatMap((message) =>
    message.role === "user"
      ? [message.content.map((part) => (part.type === "text" ? part.text : "")).join("")]
      : [],
  );
}

export function createToolCall(
  toolName: string,
  input: object,
  toolCallId = "c1",
): LanguageModelV4StreamPart {
  return { type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) };
}
