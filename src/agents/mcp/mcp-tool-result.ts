import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { type JsonValue, type Part, getText } from "../../protocol/index.ts";

/** The result of an MCP tool call. */
export interface McpToolResult {
  /** All text in the tool result, joined by newlines. */
  readonly text: string;
  /** The structured content of the tool result, if the result has any. */
  readonly data?: JsonValue;
  /** The complete content of the tool result, converted to parts that an agent can yield. */
  readonly parts: readonly Part[];
  /**
   * True if the tool failed and `text` describes the failure, so that a model can try again with other
   * arguments.
   */
  readonly isError: boolean;
  /**
   * The question of an MCP task that waits for an answer. To continue the task, call the tool again with the
   * option `answer`. Only clients with `acceptsQuestions` receive questions.
   */
  readonly question?: { readonly text: string; readonly taskId: string };
}

/** Converts the result of an MCP tool call to text, data, and parts. */
export function decodeCallToolResult({
  content,
  structuredContent,
  isError = false,
}: CallToolResult): McpToolResult {
  const parts = content.map((block) => fromContentBlock(block));
  return {
    text: parts
      .map((part) => getText([part]))
      .filter((text) => text !== "")
      .join("\n"),
    ...(structuredContent === undefined ? {} : { data: structuredContent as JsonValue }),
    parts,
    isError,
  };
}

function fromContentBlock(block: ContentBlock): Part {
  if (block.type === "text") return { text: block.text };
  if (block.type === "resource_link") {
    return { url: block.uri, filename: block.title ?? block.name, ...toMediaTypeMember(block.mimeType) };
  }
  if (block.type !== "resource") return { raw: block.data, mediaType: block.mimeType };
  const { resource } = block;
  const fileInfo = { filename: extractFileName(resource.uri), ...toMediaTypeMember(resource.mimeType) };
  return "blob" in resource ? { raw: resource.blob, ...fileInfo } : { text: resource.text, ...fileInfo };
}

function toMediaTypeMember(mimeType: string | undefined): { mediaType?: string } {
  return mimeType === undefined ? {} : { mediaType: mimeType };
}

/**
 * Returns the file name at the end of a URI. For example, the file name of `file:///notes/a%20b.md` is `a
 * b.md`.
 */
function extractFileName(uri: string): string {
  const last = uri.split(/[/\\]/).findLast((segment) => segment !== "") ?? uri;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
