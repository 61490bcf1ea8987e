import type { ChatMessage, ChatPart, ToolChatPart } from "./chat-message.ts";
import type { ApprovalDecision, ToolEvent } from "./decode-tool-event.ts";

/**
 * The messages of a task, as an immutable list that each change replaces. Output of the agent is added to the last
 * message if it belongs to the agent, and otherwise begins a message.
 */
export class AgentMessageList {
  #list: readonly ChatMessage[] = [];
  /** The artifact or message to which each part belongs, by the id of the part. */
  readonly #keysByPartId = new Map<string, string>();
  #taskId: string | undefined;
  #replyId: string | undefined;
  #partCount = 0;
  #agentMessageCount = 0;

  get list(): readonly ChatMessage[] {
    return this.#list;
  }

  setTaskId(taskId: string): void {
    this.#taskId = taskId;
    this.#list = this.#list.map((message) => ({ ...message, taskId }));
  }

  /** Sets the id of a reply without a task. */
  setReplyId(messageId: string): void {
    this.#replyId = messageId;
  }

  addUserMessage(id: string, parts: readonly ChatPart[], taskId: string | undefined): void {
    this.#list = [...this.#list, { id, role: "user", parts, ...(taskId === undefined ? {} : { taskId }) }];
  }

  /** Appends a text to the last part if that part belongs to the same artifact. */
  appendText(type: "text" | "reasoning", text: string, key: string): void {
    if (text === "") return;
    const last = this.#list.at(-1)?.role === "agent" ? this.#list.at(-1)?.parts.at(-1) : undefined;
    if (last?.type === type && this.#keysByPartId.get(last.id) === key)
      this.#replacePart(last.id, { ...last, text: last.text + text });
    else this.addPart((id) => ({ type, id, text }), key);
  }

  addPart(createPart: (id: string) => ChatPart | undefined, key: string): void {
    const id = `p${this.#partCount}`;
    const part = createPart(id);
    if (!part) return;
    this.#partCount++;
    this.#keysByPartId.set(id, key);
    const current = this.#getCurrentAgentMessage();
    this.#list = [...this.#list.slice(0, -1), { ...current, parts: [...current.parts, part] }];
  }

  /** Removes the parts of an artifact, whose new content replaces them. */
  removeParts(key: string): void {
    if (![...this.#keysByPartId.values()].includes(key)) return;
    this.#list = this.#list.map((message) =>
      message.role === "user"
        ? message
        : { ...message, parts: message.parts.filter(({ id }) => this.#keysByPartId.get(id) !== key) },
    );
    for (const [id, partKey] of this.#keysByPartId) if (partKey === key) this.#keysByPartId.delete(id);
  }

  /** Applies a change of a tool call. Returns false for the result of an unknown call. */
  applyToolEvent(event: ToolEvent): boolean {
    const existing = this.#findToolPart(
      (part) => part.toolCallId === event.toolCallId && !hasToolCallEnded(part),
    );
    if (event.type === "call" || event.type === "approval-request") {
      const { toolCallId, toolName } = event;
      const input = event.input === undefined ? {} : { input: event.input };
      const change =
        event.type === "call"
          ? ({ state: existing?.state ?? "running" } as const)
          : ({ state: "approval-requested", approval: event.approval } as const);
      if (existing) this.#replacePart(existing.id, { ...existing, ...input, ...change });
      else this.addPart((id) => ({ type: "tool", id, toolCallId, toolName, ...input, ...change }), "tool");
      return true;
    }
    if (!existing) return this.#findToolPart((part) => part.toolCallId === event.toolCallId) !== undefined;
    if (event.type === "result")
      this.#replacePart(existing.id, { ...existing, state: "succeeded", output: event.output });
    else this.#replacePart(existing.id, { ...existing, state: "failed" });
    return true;
  }

  /** Applies the user's decision to the tool call that waits for it. */
  applyDecision({ approvalId, approved, reason }: ApprovalDecision): void {
    const existing = this.#findToolPart(
      ({ approval, state }) => approval?.id === approvalId && state === "approval-requested",
    );
    if (!existing?.approval) return;
    this.#replacePart(existing.id, {
      ...existing,
      state: approved ? "approved" : "denied",
      approval: { ...existing.approval, approved, ...(reason === undefined ? {} : { reason }) },
    });
  }

  #findToolPart(matches: (part: ToolChatPart) => boolean): ToolChatPart | undefined {
    for (const { parts } of this.#list.toReversed()) {
      const found = parts.findLast((part) => part.type === "tool" && matches(part));
      if (found?.type === "tool") return found;
    }
    return undefined;
  }

  #replacePart(id: string, part: ChatPart): void {
    this.#list = this.#list.map((message) =>
      message.role === "agent" && message.parts.some((other) => other.id === id)
        ? { ...message, parts: message.parts.map((other) => (other.id === id ? part : other)) }
        : message,
    );
  }

  #getCurrentAgentMessage(): ChatMessage {
    const last = this.#list.at(-1);
    if (last?.role === "agent") return last;
    const count = this.#agentMessageCount++;
    const baseId = this.#taskId ?? this.#replyId ?? "reply";
    const message: ChatMessage = {
      id: count === 0 ? baseId : `${baseId}.${count}`,
      role: "agent",
      parts: [],
      ...(this.#taskId === undefined ? {} : { taskId: this.#taskId }),
    };
    this.#list = [...this.#list, message];
    return message;
  }
}

/** Returns true if a later call with the same id is another call. Some models number the calls of each turn anew. */
function hasToolCallEnded({ state }: ToolChatPart): boolean {
  return state === "succeeded" || state === "failed" || state === "denied";
}
