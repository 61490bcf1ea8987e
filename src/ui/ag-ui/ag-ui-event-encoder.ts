import { getText, isInterrupted, type JsonObject } from "../../protocol/index.ts";
import { toFileUrl } from "../to-file-url.ts";
import type { ChatMessage, ChatPart, ToolChatPart } from "../chat-message.ts";
import { diffParts, isText } from "../diff-parts.ts";
import type { TaskView } from "../task-view.ts";
import type { UsageTaskView } from "./usage-task-view.ts";

/** An event of the AG-UI protocol. */
export type AgUiEvent = JsonObject & { readonly type: string };

/**
 * Encodes the messages of tasks as AG-UI events. The events depend only on the events of the task, so that each request
 * for the same task results in the same events with the same ids.
 */
export class AgUiEventEncoder {
  #sentParts = new Map<string, readonly ChatPart[]>();
  #openText: { readonly id: string; readonly type: "text" | "reasoning" } | undefined;
  #progressText = "";

  /** Returns the events for the changes since the previous call. */
  encode(view: Pick<TaskView, "messages" | "progressText">): AgUiEvent[] {
    const events = view.messages.flatMap((message) =>
      message.role === "user" ? this.#encodeUserMessage(message) : this.#encodeAgentMessage(message),
    );
    if (view.progressText !== this.#progressText) {
      this.#progressText = view.progressText;
      events.push({ type: "CUSTOM", name: "a2a.progress", value: view.progressText });
    }
    return events;
  }

  /** Returns the event that ends the open text message, if there is one. */
  closeText(): AgUiEvent[] {
    const open = this.#openText;
    this.#openText = undefined;
    if (!open) return [];
    const messageId = open.id;
    if (open.type === "text") return [{ type: "TEXT_MESSAGE_END", messageId }];
    return [
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId },
    ];
  }

  #encodeUserMessage({ id, parts }: ChatMessage): AgUiEvent[] {
    if (this.#sentParts.has(id)) return [];
    this.#sentParts.set(id, parts);
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (text === "") return [];
    return [
      ...this.closeText(),
      { type: "TEXT_MESSAGE_START", messageId: id, role: "user" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: text },
      { type: "TEXT_MESSAGE_END", messageId: id },
    ];
  }

  #encodeAgentMessage({ id, parts }: ChatMessage): AgUiEvent[] {
    const sent = this.#sentParts.get(id) ?? [];
    if (sent === parts) return [];
    this.#sentParts.set(id, parts);
    const changes = diffParts(sent, parts);
    // AG-UI has no event that shortens a message. Content that replaces earlier content becomes further messages.
    if (!changes) {
      const sentIds = new Set(sent.map((part) => part.id));
      return parts.filter((part) => !sentIds.has(part.id)).flatMap((part) => this.#encodeNewPart(part, id));
    }
    return changes.flatMap((change) => {
      const messageId = `${id}/${change.part.id}`;
      if (change.type === "added") return this.#encodeNewPart(change.part, id);
      if (change.type === "tool")
        return encodeToolResult(change.part, messageId).slice(
          encodeToolResult(change.previous, messageId).length,
        );
      return this.#encodeText(messageId, change.part.type, change.delta);
    });
  }

  #encodeNewPart(part: ChatPart, agentMessageId: string): AgUiEvent[] {
    const messageId = `${agentMessageId}/${part.id}`;
    if (isText(part)) return this.#encodeText(messageId, part.type, part.text);
    const closing = this.closeText();
    if (part.type === "tool") {
      const { toolCallId, toolName, input = {} } = part;
      return [
        ...closing,
        { type: "TOOL_CALL_START", toolCallId, toolCallName: toolName, parentMessageId: messageId },
        { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(input) },
        { type: "TOOL_CALL_END", toolCallId },
        ...encodeToolResult(part, messageId),
      ];
    }
    return [
      ...closing,
      { type: "ACTIVITY_SNAPSHOT", messageId, activityType: `a2a.${part.type}`, content: toActivity(part) },
    ];
  }

  #encodeText(messageId: string, type: "text" | "reasoning", delta: string): AgUiEvent[] {
    const content =
      type === "text"
        ? { type: "TEXT_MESSAGE_CONTENT", messageId, delta }
        : { type: "REASONING_MESSAGE_CONTENT", messageId, delta };
    if (this.#openText?.id === messageId) return [content];
    const closing = this.closeText();
    this.#openText = { id: messageId, type };
    return type === "text"
      ? [...closing, { type: "TEXT_MESSAGE_START", messageId, role: "assistant" }, content]
      : [
          ...closing,
          { type: "REASONING_START", messageId },
          { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
          content,
        ];
  }
}

function encodeToolResult({ toolCallId, state, output = null }: ToolChatPart, partId: string): AgUiEvent[] {
  const content =
    state === "succeeded"
      ? JSON.stringify(output)
      : state === "failed"
        ? `{"error":"The tool failed."}`
        : state === "denied"
          ? `{"error":"The user denied the call."}`
          : undefined;
  return content === undefined
    ? []
    : [{ type: "TOOL_CALL_RESULT", messageId: `${partId}/result`, toolCallId, content, role: "tool" }];
}

function toActivity(part: Exclude<ChatPart, { type: "text" | "reasoning" | "tool" }>): JsonObject {
  if (part.type === "file") {
    const { mediaType = "application/octet-stream", filename } = part.file;
    return { url: toFileUrl(part.file), mediaType, ...(filename === undefined ? {} : { filename }) };
  }
  return part.type === "data" ? { data: part.data } : { url: part.url, title: part.title };
}

/** Returns the event that ends a run, with the tokens of the run, and the questions of a task that waits for its user. */
export function encodeRunEnd(
  view: UsageTaskView | undefined,
  run: { threadId: string; runId: string },
): AgUiEvent {
  const { errorText, state } = view ?? {};
  const usage = view && view.usage.length > 0 ? { usage: view.usage } : {};
  if (errorText !== undefined) return { type: "RUN_ERROR", message: errorText, ...usage };
  const interrupts = view && state !== undefined && isInterrupted(state) ? listInterrupts(view) : [];
  const outcome: JsonObject =
    interrupts.length > 0
      ? { type: "interrupt", interrupts }
      : { type: state === "TASK_STATE_CANCELED" ? "cancelled" : "success" };
  return { type: "RUN_FINISHED", ...run, outcome, ...usage };
}

function listInterrupts(view: TaskView): JsonObject[] {
  const calls = view.messages.flatMap(({ parts }) =>
    parts.filter((part) => part.type === "tool" && part.state === "approval-requested"),
  );
  if (calls.length > 0)
    return calls.flatMap((part) => {
      if (part.type !== "tool" || !part.approval) return [];
      const { toolCallId, toolName, approval } = part;
      const message = `May ${toolName} be called?`;
      return [
        { id: approval.id, reason: "tool_approval", message, toolCallId, responseSchema: APPROVAL_SCHEMA },
      ];
    });
  const { status, taskId = "" } = view;
  const message = getText(status?.message?.parts ?? []);
  return [{ id: status?.message?.messageId ?? taskId, reason: "input_required", message }];
}

const APPROVAL_SCHEMA: JsonObject = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"],
};
