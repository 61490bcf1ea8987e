import type { AdkEvent } from "./adk-structural-types.ts";

/** Descriptions of the reasons why models stop without an answer, by Gemini API code. */
const MODEL_STOP_DESCRIPTIONS: Readonly<Record<string, string>> = {
  MAX_TOKENS: "the model reached its maximum number of output tokens before it wrote text",
  SAFETY: "a safety filter blocked the content",
  IMAGE_SAFETY: "a safety filter blocked an image",
  RECITATION: "the answer repeats protected content",
  LANGUAGE: "the model does not support the language",
  BLOCKLIST: "the content contains blocked terms",
  PROHIBITED_CONTENT: "the content is prohibited",
  SPII: "the answer contains sensitive personal data",
  MALFORMED_FUNCTION_CALL: "the model wrote an invalid function call",
  UNEXPECTED_TOOL_CALL: "the model called a tool that it does not have",
  TOO_MANY_TOOL_CALLS: "the model called too many tools",
  NO_IMAGE: "the model wrote no image",
  OTHER: "the provider gives no reason",
};

/**
 * Returns a sentence for the caller if a model stopped without an answer for a known reason. The sentence
 * contains no text from the model or its provider. Returns `undefined` for other errors.
 */
export function describeModelStop({ errorCode, finishReason }: AdkEvent): string | undefined {
  if (errorCode === undefined || !Object.hasOwn(MODEL_STOP_DESCRIPTIONS, errorCode)) return undefined;
  // Only answers have a finish reason. A blocked prompt has none.
  const what = finishReason === undefined ? "The model rejected the request" : "The model stopped";
  return `${what} (${errorCode}): ${MODEL_STOP_DESCRIPTIONS[errorCode]}.`;
}

/**
 * Returns a sentence for the caller of a run without content. In streaming mode, ADK reports neither an error nor a
 * finish reason if the provider blocks the prompt.
 */
export function describeEmptyAnswer({ finishReason }: AdkEvent): string {
  const hint = finishReason === undefined ? " The provider may have blocked the prompt." : "";
  return `The model returned neither text nor a function call (finish reason: ${finishReason ?? "none"}).${hint}`;
}

/**
 * Returns true if an event contains an answer that was cut off at the model's token limit. ADK's runner also
 * treats such an event as an answer, although ADK sets the error code in streaming mode.
 */
export function isTruncatedAnswer({ errorCode, content }: AdkEvent): boolean {
  return errorCode === "MAX_TOKENS" && (content?.parts ?? []).some(({ text, thought }) => text && !thought);
}
