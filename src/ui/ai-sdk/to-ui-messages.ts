import type { DynamicToolUIPart, UIMessage } from "ai";
import type { ChatMessage, ChatPart, ToolChatPart } from "../chat-message.ts";
import { isText } from "../diff-parts.ts";
import { toFileUrl } from "../to-file-url.ts";

type UIPart = UIMessage["parts"][number];

/** Converts a message of a chat to a message of the AI SDK. */
export function toUIMessage({ id, role, parts, taskId }: ChatMessage, metadata?: object): UIMessage {
  if (role === "user") return { id, role, parts: parts.map((part) => toUserUIPart(part, id)) };
  return {
    id,
    role: "assistant",
    metadata: { ...(taskId === undefined ? {} : { taskId }), ...metadata },
    parts: [{ type: "step-start" }, ...parts.map((part) => toUIPart(part, id))],
  };
}

function toUserUIPart(part: ChatPart, messageId: string): UIPart {
  return isText(part) ? { type: "text", text: part.text } : toUIPart(part, messageId);
}

function toUIPart(part: ChatPart, messageId: string): UIPart {
  if (isText(part)) return { type: part.type, text: part.text, state: "done" };
  if (part.type === "file") {
    const { mediaType = "application/octet-stream", filename } = part.file;
    return {
      type: "file",
      mediaType,
      url: toFileUrl(part.file),
      ...(filename === undefined ? {} : { filename }),
    };
  }
  const id = `${messageId}/${part.id}`;
  if (part.type === "source") return { type: "source-url", sourceId: id, url: part.url, title: part.title };
  if (part.type === "data") return { type: "data-a2a", id, data: part.data };
  return toToolUIPart(part);
}

function toToolUIPart({
  toolCallId,
  toolName,
  input = {},
  state,
  output,
  approval,
}: ToolChatPart): DynamicToolUIPart {
  const call = { type: "dynamic-tool", toolCallId, toolName, input, providerExecuted: true } as const;
  const reason = approval?.reason === undefined ? {} : { reason: approval.reason };
  const id = approval?.id ?? toolCallId;
  if (state === "running") return { ...call, state: "input-available" };
  if (state === "approval-requested") return { ...call, state: "approval-requested", approval: { id } };
  if (state === "approved")
    return { ...call, state: "approval-responded", approval: { id, approved: true, ...reason } };
  if (state === "denied")
    return { ...call, state: "output-denied", approval: { id, approved: false, ...reason } };
  if (state === "failed") return { ...call, state: "output-error", errorText: "The tool failed." };
  const granted = approval ? { approval: { id, approved: true as const, ...reason } } : {};
  return { ...call, state: "output-available", output, ...granted };
}
