import type { JsonObject, Message, Part } from "../../../protocol/index.ts";

/** A chat message in the format of the OpenAI-compatible endpoint. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string | readonly JsonObject[];
}

/**
 * Converts an A2A message into a chat message. Data parts become JSON text, because models do not accept data
 * parts.
 */
export function toUserMessage({ parts }: Pick<Message, "parts">): ChatMessage {
  const [onlyPart] = parts;
  if (onlyPart && parts.length === 1 && "text" in onlyPart) return { role: "user", content: onlyPart.text };
  return { role: "user", content: parts.map(toContentPart) };
}

/** Creates an assistant message from text. */
export function toAssistantMessage(content: string): ChatMessage {
  return { role: "assistant", content };
}

const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([
  ["audio/wav", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/mpeg", "mp3"],
  ["audio/mp3", "mp3"],
]);

function toContentPart(part: Part): JsonObject {
  if ("text" in part) return { type: "text", text: part.text };
  if ("data" in part) return { type: "text", text: JSON.stringify(part.data) };
  const { mediaType = "application/octet-stream", filename = "file" } = part;
  const isImage = mediaType.startsWith("image/");
  if ("url" in part) {
    if (isImage) return { type: "image_url", image_url: { url: part.url } };
    // Chat completion endpoints fetch only images by URL.
    return { type: "text", text: `${filename} (${mediaType}): ${part.url}` };
  }
  const url = `data:${mediaType};base64,${part.raw}`;
  if (isImage) return { type: "image_url", image_url: { url } };
  const format = AUDIO_FORMATS.get(mediaType);
  if (format) return { type: "input_audio", input_audio: { data: part.raw, format } };
  return { type: "file", file: { filename, file_data: url } };
}
