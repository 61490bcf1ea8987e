import type { ChatPart, TextChatPart, ToolChatPart } from "./chat-message.ts";

/** A difference between two states of a chat message. */
export type PartChange =
  | { readonly type: "added"; readonly part: ChatPart }
  | { readonly type: "text"; readonly part: TextChatPart; readonly delta: string }
  | { readonly type: "tool"; readonly part: ToolChatPart; readonly previous: ToolChatPart };

/**
 * Returns the changes from one state of a message to a later state. Returns `undefined` if the agent has replaced
 * content, so that the readers of the earlier state must start again.
 */
export function diffParts(before: readonly ChatPart[], after: readonly ChatPart[]): PartChange[] | undefined {
  const changes: PartChange[] = [];
  for (const [index, previous] of before.entries()) {
    const part = after[index];
    if (part?.id !== previous.id) return undefined;
    if (part === previous) continue;
    if (isText(part) && isText(previous)) {
      if (!part.text.startsWith(previous.text)) return undefined;
      if (part.text !== previous.text)
        changes.push({ type: "text", part, delta: part.text.slice(previous.text.length) });
    } else if (part.type === "tool" && previous.type === "tool") {
      changes.push({ type: "tool", part, previous });
    }
  }
  for (const part of after.slice(before.length)) changes.push({ type: "added", part });
  return changes;
}

/** Returns true for a text of the answer or of the model's reasoning. */
export function isText(part: ChatPart): part is TextChatPart {
  return part.type === "text" || part.type === "reasoning";
}
