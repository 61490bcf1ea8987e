import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { type JsonValue, type Part, getText } from "../protocol/index.ts";

/** What an MCP tool gave. */
export interface McpToolResult {
  /** All text of it, joined by newlines. */
  readonly text: string;
  /** What the tool says in JSON, where it does. */
  readonly data?: JsonValue;
  /** Everything, as an agent can yield it. */
  readonly parts: readonly Part[];
  /** True: the tool failed; `text` says how, for a model that may try otherwise. */
  readonly isError: boolean;
}

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
  const about = { filename: extractFileName(resource.uri), ...toMediaTypeMember(resource.mimeType) };
  return "blob" in resource ? { raw: resource.blob, ...about } : { text: resource.text, ...about };
}

function toMediaTypeMember(mimeType: string | undefined): { mediaType?: string } {
  return mimeType === undefined ? {} : { mediaType: mimeType };
}

/** `file:///notes/a%20b.md` → `a b.md` */
function extractFileName(uri: string): string {
  const last = uri.split(/[/\\]/).findLast((piece) => piece !== "") ?? uri;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
