import type { AssistantModelMessage, FilePart, TextPart, UserModelMessage } from "ai";
import type { Message, Part } from "../../protocol/index.ts";

/** A message of ours as the model is shown it: data as its JSON text, since models know no data. */
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

export function toAssistantMessage(content: string): AssistantModelMessage {
  return { role: "assistant", content };
}
