import { omitUndefined } from "../../base/usage-checks/index.ts";
import type { UIMessageChunk } from "ai";
import type { ChatMessage, ChatPart, TextChatPart, ToolChatPart } from "../chat-message.ts";
import { diffParts, isText } from "../diff-parts.ts";
import type { TaskView } from "../task-view.ts";
import { toFileUrl } from "../to-file-url.ts";

/** Metadata of the messages that the transport creates. */
export interface A2AMessageMetadata {
  readonly taskId?: string;
  readonly contextId?: string;
  /** State of the task after the message, such as `TASK_STATE_INPUT_REQUIRED`. */
  readonly taskState?: string;
}

/**
 * Encodes the latest message of the agent as the chunks of an AI SDK stream. The encoder compares the message with its
 * state after the previous call, and returns chunks for the difference.
 */
export class UIMessageChunkEncoder {
  /** Number of parts that an earlier stream has sent. */
  readonly #baseCount: number;
  #sentParts: readonly ChatPart[];
  #openText: TextChatPart | undefined;
  #hasStarted = false;
  #progressText = "";

  /** `continued` is the message to which the stream adds parts, for example after an approval. */
  constructor(continued?: ChatMessage) {
    this.#sentParts = continued?.parts ?? [];
    this.#baseCount = this.#sentParts.length;
  }

  /** Returns the chunks for the changes since the previous call. */
  encode(view: TaskView): UIMessageChunk[] {
    const chunks: UIMessageChunk[] = [];
    const message = view.messages.at(-1);
    if (message?.role === "agent")
      chunks.push(...this.#start(view, message.id), ...this.#encodeParts(message));
    if (view.progressText !== this.#progressText) {
      this.#progressText = view.progressText;
      chunks.push({ type: "data-progress", data: { text: view.progressText }, transient: true });
    }
    return chunks;
  }

  /** Returns the chunks at the end of the turn. */
  end(view: TaskView): UIMessageChunk[] {
    const chunks = [...this.#start(view, undefined), ...this.#closeText(), { type: "finish-step" } as const];
    const { errorText } = view;
    if (errorText !== undefined) return [...chunks, { type: "error", errorText }];
    const isCanceled = view.state === "TASK_STATE_CANCELED";
    return [
      ...chunks,
      { type: "finish", finishReason: isCanceled ? "other" : "stop", messageMetadata: toMetadata(view) },
    ];
  }

  #start(view: TaskView, messageId: string | undefined): UIMessageChunk[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    const messageMetadata = toMetadata(view);
    return [
      { type: "start", ...(messageId === undefined ? {} : { messageId }), messageMetadata },
      { type: "start-step" },
    ];
  }

  #encodeParts({ id: messageId, parts }: ChatMessage): UIMessageChunk[] {
    const changes = diffParts(this.#sentParts, parts);
    const previousParts = this.#sentParts;
    this.#sentParts = parts;
    if (!changes) {
      this.#openText = undefined;
      const sentBefore = new Set(previousParts.slice(0, this.#baseCount).map(({ id }) => id));
      const newParts = parts.filter(({ id }) => !sentBefore.has(id));
      return [{ type: "reset-step" }, ...newParts.flatMap((part) => this.#encodeNewPart(part, messageId))];
    }
    return changes.flatMap((change): UIMessageChunk[] => {
      if (change.type === "added") return this.#encodeNewPart(change.part, messageId);
      if (change.type === "text")
        return this.#openText?.id === change.part.id
          ? [{ type: `${change.part.type}-delta`, id: change.part.id, delta: change.delta }]
          : this.#encodeNewPart({ ...change.part, text: change.delta }, messageId);
      return encodeToolSteps(change.part).slice(encodeToolSteps(change.previous).length);
    });
  }

  #encodeNewPart(part: ChatPart, messageId: string): UIMessageChunk[] {
    const closing = this.#closeText();
    if (isText(part)) {
      this.#openText = part;
      const { type, id, text } = part;
      return [...closing, { type: `${type}-start`, id }, { type: `${type}-delta`, id, delta: text }];
    }
    if (part.type === "tool") return [...closing, ...encodeToolSteps(part)];
    if (part.type === "file") {
      const { mediaType = "application/octet-stream" } = part.file;
      return [...closing, { type: "file", url: toFileUrl(part.file), mediaType }];
    }
    const id = `${messageId}/${part.id}`;
    if (part.type === "source")
      return [...closing, { type: "source-url", sourceId: id, url: part.url, title: part.title }];
    return [...closing, { type: "data-a2a", id, data: part.data }];
  }

  #closeText(): UIMessageChunk[] {
    const open = this.#openText;
    this.#openText = undefined;
    return open ? [{ type: `${open.type}-end`, id: open.id }] : [];
  }
}

function toMetadata({ taskId, contextId, state }: TaskView): A2AMessageMetadata {
  return {
    ...omitUndefined({ taskId, contextId, taskState: state }),
  };
}

/** Returns the chunks from the call of the tool to its current state. A later state adds chunks at the end. */
function encodeToolSteps({
  toolCallId,
  toolName,
  input = {},
  state,
  output,
  approval,
}: ToolChatPart): UIMessageChunk[] {
  // The agent executes its tools, so the page must not execute them.
  const call = { toolCallId, dynamic: true, providerExecuted: true } as const;
  const steps: UIMessageChunk[] = [{ type: "tool-input-available", ...call, toolName, input }];
  if (approval) steps.push({ type: "tool-approval-request", approvalId: approval.id, toolCallId });
  if (approval?.approved !== undefined) {
    const { id: approvalId, approved, reason } = approval;
    const withReason = reason === undefined ? {} : { reason };
    steps.push({ type: "tool-approval-response", approvalId, approved, ...withReason });
  }
  if (state === "denied") steps.push({ type: "tool-output-denied", toolCallId });
  if (state === "succeeded") steps.push({ type: "tool-output-available", ...call, output });
  if (state === "failed") steps.push({ type: "tool-output-error", ...call, errorText: "The tool failed." });
  return steps;
}
