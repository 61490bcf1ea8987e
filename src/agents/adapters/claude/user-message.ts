import type { Message, Part } from "../../../protocol/index.ts";

/** A user message for the Claude Agent SDK, with content blocks of the Messages API. */
export interface ClaudeUserMessage {
  readonly type: "user";
  readonly parent_tool_use_id: null;
  readonly message: { readonly role: "user"; readonly content: readonly ClaudeContentBlock[] };
}

type ClaudeContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "document"; readonly source: ClaudeFileSource };

type ClaudeFileSource =
  | { readonly type: "base64"; readonly media_type: string; readonly data: string }
  | { readonly type: "url"; readonly url: string };

/**
 * Converts an A2A message into a user message. Data parts become JSON text, because models have no data parts.
 * Claude accepts images and PDF documents, so other files become a line of text with the name of the file.
 */
export function toClaudeUserMessage({ parts }: Pick<Message, "parts">): ClaudeUserMessage {
  return {
    type: "user",
    parent_tool_use_id: null,
    message: { role: "user", content: parts.map(toContentBlock) },
  };
}

function toContentBlock(part: Part): ClaudeContentBlock {
  if ("text" in part) return { type: "text", text: part.text };
  if ("data" in part) return { type: "text", text: JSON.stringify(part.data) };
  const { mediaType = "application/octet-stream", filename = "file" } = part;
  const type = mediaType.startsWith("image/") ? "image" : "document";
  if (type === "document" && mediaType !== "application/pdf")
    return { type: "text", text: `[${mediaType}: ${filename}]` };
  const source: ClaudeFileSource =
    "raw" in part
      ? { type: "base64", media_type: mediaType, data: part.raw }
      : { type: "url", url: part.url };
  return { type, source };
}
