import { isObject, type JsonObject, type Message, type Part } from "../../../protocol/index.ts";

/** The LangChain message fields that the adapter reads in every LangChain version. */
export interface LangChainMessage {
  readonly id: string | undefined;
  readonly type: string;
  readonly text: string;
  readonly thought: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
  /** The id of the tool call whose result the message contains. */
  readonly toolCallId: string;
  readonly name: string;
  readonly isError: boolean;
  readonly usage: Readonly<Record<keyof typeof LANGCHAIN_USAGE_KEYS, number>>;
}

const LANGCHAIN_USAGE_KEYS = {
  inputTokens: "input_tokens",
  outputTokens: "output_tokens",
  totalTokens: "total_tokens",
};

/** Decodes a LangChain message, or returns `undefined` if the value is not a LangChain message. */
export function parseLangChainMessage(value: unknown): LangChainMessage | undefined {
  if (!isObject(value) || typeof value["type"] !== "string" || !("content" in value)) return undefined;
  const { id, type, content, tool_calls, tool_call_id, name, status, usage_metadata } = value;
  const blocks =
    typeof content === "string" ? [{ type: "text", text: content }] : filterPlainObjects(content);
  const usage = isObject(usage_metadata) ? usage_metadata : {};
  const getTokenCount = (key: string): number => (typeof usage[key] === "number" ? usage[key] : 0);
  return {
    id: typeof id === "string" ? id : undefined,
    type,
    text: blocks.map((block) => getBlockText(block, "text", "text")).join(""),
    thought: blocks
      .map(
        (block) =>
          getBlockText(block, "reasoning", "reasoning") + getBlockText(block, "thinking", "thinking"),
      )
      .join(""),
    toolCalls: filterPlainObjects(tool_calls).map((call) => ({
      id: toStringOrEmpty(call["id"]),
      name: toStringOrEmpty(call["name"]),
      args: call["args"],
    })),
    toolCallId: toStringOrEmpty(tool_call_id),
    name: toStringOrEmpty(name),
    isError: status === "error",
    usage: {
      inputTokens: getTokenCount(LANGCHAIN_USAGE_KEYS.inputTokens),
      outputTokens: getTokenCount(LANGCHAIN_USAGE_KEYS.outputTokens),
      totalTokens: getTokenCount(LANGCHAIN_USAGE_KEYS.totalTokens),
    },
  };
}

/**
 * Converts an A2A message into a value that LangChain can coerce to a `HumanMessage`. Data parts of the
 * message become JSON text.
 */
export function toHumanMessage({ parts }: Pick<Message, "parts">): {
  role: "user";
  content: string | JsonObject[];
} {
  const [onlyPart] = parts;
  const content =
    onlyPart && parts.length === 1 && "text" in onlyPart ? onlyPart.text : parts.map(toContentBlock);
  return { role: "user", content };
}

const MEDIA_BLOCK_TYPES: ReadonlySet<string> = new Set(["image", "audio", "video"]);

/** Converts a part into a standard LangChain content block. */
function toContentBlock(part: Part): JsonObject {
  if ("text" in part) return { type: "text", text: part.text };
  if ("data" in part) return { type: "text", text: JSON.stringify(part.data) };
  const { mediaType = "application/octet-stream", filename } = part;
  const mediaKind = mediaType.split("/", 1)[0] ?? "";
  return {
    type: MEDIA_BLOCK_TYPES.has(mediaKind) ? mediaKind : "file",
    mimeType: mediaType,
    ...("raw" in part ? { data: part.raw } : { url: part.url }),
    ...(filename === undefined ? {} : { metadata: { filename } }),
  };
}

function filterPlainObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function getBlockText(block: Record<string, unknown>, type: string, member: string): string {
  return block["type"] === type ? toStringOrEmpty(block[member]) : "";
}

function toStringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
