import type { AssistantModelMessage, FilePart, TextPart, UserModelMessage } from "ai";
import type { Message, Part } from "../../../protocol/index.ts";

/**
 * Converts an A2A message into a model message. Data parts become JSON text, because models do not accept
 * data parts.
 */
export function toUserMessage({ parts }: Pick<Message, "parts">): UserModelMessage {
  const [onlyPart] = parts;
  if (onlyPart && parts.length === 1 && "text" in onlyPart) return { role: "user", content: onlyPart.text };
  return { role: "user", content: parts.map(toContentPart) };
}

function toContentPart(part: Part): TextPart | FilePart {
  if ("text" in part) return { type: "text", text: part.text };
  if ("data" in part) return { type: "text", text: JSON.stringify(part.data) };
  const { filename, mediaType = "application/octet-stream" } = part;
  const data = "raw" in part ? part.raw : new URL(part.url);
  return { type: "file", data, mediaType, ...(filename === undefined ? {} : { filename }) };
}

/** Creates an assistant message from text. */
export function toAssistantMessage(content: string): AssistantModelMessage {
  return { role: "assistant", content };
}
