import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { type JsonValue, type Part, getText } from "../protocol/index.ts";

/** Result of an MCP tool call. */
export interface McpToolResult {
  /** All text of the result, joined by newlines. */
  readonly text: string;
  /** Structured content of the result, if the tool returns any. */
  readonly data?: JsonValue;
  /** Complete content of the result, as parts that an agent can yield. */
  readonly parts: readonly Part[];
  /**
   * `true` if the tool failed. `text` then describes the failure, so a model can try again with other
   * arguments.
   */
  readonly isError: boolean;
}

/** Converts the result of a tool call to text, data, and parts. */
export function fromCallToolResult({
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

/** Returns the file name of a URI. For example, `file:///notes/a%20b.md` has the name `a b.md`. */
function extractFileName(uri: string): string {
  const last = uri.split(/[/\\]/).findLast((segment) => segment !== "") ?? uri;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
