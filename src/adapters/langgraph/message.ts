import type { JsonObject, Message, Part } from "../../protocol/index.ts";

/** What is read of a message of LangChain, of whatever version. */
export interface LangMessage {
  readonly id: string | undefined;
  readonly type: string;
  readonly text: string;
  readonly thought: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
  /** Of a tool's message: which call it answers. */
  readonly toolCallId: string;
  readonly name: string;
  readonly isError: boolean;
  readonly usage: Readonly<Record<keyof typeof USAGE, number>>;
}

const USAGE = { inputTokens: "input_tokens", outputTokens: "output_tokens", totalTokens: "total_tokens" };

/** Undefined for what is no message. */
export function decodeMessage(value: unknown): LangMessage | undefined {
  if (!isRecord(value) || typeof value["type"] !== "string" || !("content" in value)) return undefined;
  const { id, type, content, tool_calls: calls, tool_call_id, name, status, usage_metadata } = value;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listIn(content);
  const usage = isRecord(usage_metadata) ? usage_metadata : {};
  const tokens = (key: string): number => (typeof usage[key] === "number" ? usage[key] : 0);
  return {
    id: typeof id === "string" ? id : undefined,
    type,
    text: blocks.map((block) => stringIn(block, "text", "text")).join(""),
    thought: blocks
      .map((block) => stringIn(block, "reasoning", "reasoning") + stringIn(block, "thinking", "thinking"))
      .join(""),
    toolCalls: listIn(calls).map((call) => ({
      id: str(call["id"]),
      name: str(call["name"]),
      args: call["args"],
    })),
    toolCallId: str(tool_call_id),
    name: str(name),
    isError: status === "error",
    usage: {
      inputTokens: tokens(USAGE.inputTokens),
      outputTokens: tokens(USAGE.outputTokens),
      totalTokens: tokens(USAGE.totalTokens),
    },
  };
}

/** A message of ours in the form that LangChain makes a `HumanMessage` of: data as its JSON text. */
export function toHuman({ parts }: Pick<Message, "parts">): { role: "user"; content: string | JsonObject[] } {
  const [only] = parts;
  const content = only && parts.length === 1 && "text" in only ? only.text : parts.map(toBlock);
  return { role: "user", content };
}

const KINDS: ReadonlySet<string> = new Set(["image", "audio", "video"]);

/** LangChain's standard content blocks. */
function toBlock(part: Part): JsonObject {
  if ("text" in part) return { type: "text", text: part.text };
  if ("data" in part) return { type: "text", text: JSON.stringify(part.data) };
  const { mediaType = "application/octet-stream", filename } = part;
  const kind = mediaType.split("/", 1)[0] ?? "";
  return {
    type: KINDS.has(kind) ? kind : "file",
    mimeType: mediaType,
    ...("raw" in part ? { data: part.raw } : { url: part.url }),
    ...(filename === undefined ? {} : { metadata: { filename } }),
  };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function stringIn(block: Record<string, unknown>, type: string, member: string): string {
  return block["type"] === type ? str(block[member]) : "";
}

function str(value: unknown): string {
  return typeof value === "string" ? value : "";
}
