import {
  type Artifact,
  ArtifactContentTracker,
  getText,
  isInterrupted,
  isTerminal,
  type JsonValue,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
  type TaskState,
  type TaskStatus,
} from "../protocol/index.ts";
import type { ChatMessage, ChatPart, ToolChatPart } from "./chat-message.ts";
import {
  type ApprovalDecision,
  findApprovalDecision,
  findToolEvent,
  type ToolEvent,
} from "./decode-tool-event.ts";

/**
 * The messages of one task, computed from the events of the task. The same events result in the same messages with the
 * same ids, and a snapshot of the task adds only content that the view does not have. Readers get a new list after
 * each change.
 */
export class TaskView {
  readonly #messages = new AgentMessageList();
  readonly #artifacts = new ArtifactContentTracker();
  readonly #seenMessageIds = new Set<string>();
  #taskId: string | undefined;
  #contextId: string | undefined;
  #status: TaskStatus | undefined;
  #progressText = "";
  #hasReply = false;

  get taskId(): string | undefined {
    return this.#taskId;
  }

  get contextId(): string | undefined {
    return this.#contextId;
  }

  /** State of the task. `undefined` before the first event, and for a reply without a task. */
  get state(): TaskState | undefined {
    return this.#status?.state;
  }

  /** The latest status of the task. */
  get status(): TaskStatus | undefined {
    return this.#status;
  }

  /** What the agent is doing, for example `Thinking…`. Empty if the agent has not reported its progress. */
  get progressText(): string {
    return this.#progressText;
  }

  get messages(): readonly ChatMessage[] {
    return this.#messages.list;
  }

  /** True if the agent has ended its turn: the task has ended or waits for the user, or the agent sent a reply. */
  get hasTurnEnded(): boolean {
    const state = this.#status?.state;
    return this.#hasReply || this.isWaiting || (state !== undefined && isTerminal(state));
  }

  /** True if the task waits for the user. */
  get isWaiting(): boolean {
    const state = this.#status?.state;
    return state !== undefined && isInterrupted(state);
  }

  /** The reason of a failure, or `undefined` if the task has not failed. */
  get errorText(): string | undefined {
    const state = this.#status?.state;
    if (state !== "TASK_STATE_FAILED" && state !== "TASK_STATE_REJECTED") return undefined;
    const text = getText(this.#status?.message?.parts ?? []);
    if (text !== "") return text;
    return state === "TASK_STATE_FAILED" ? "The agent failed." : "The agent rejected the message.";
  }

  /** True if the view contains the message. */
  hasMessage(messageId: string): boolean {
    return this.#seenMessageIds.has(messageId);
  }

  /** Adds a message of the user, unless the view contains it. A message with decisions changes only the tool calls. */
  addUserMessage(message: Message): void {
    if (this.#seenMessageIds.has(message.messageId)) return;
    this.#seenMessageIds.add(message.messageId);
    const otherParts: Part[] = [];
    for (const part of message.parts) {
      const decision = findApprovalDecision(part);
      if (decision) this.#messages.applyDecision(decision);
      else otherParts.push(part);
    }
    if (otherParts.length === 0) return;
    const parts = otherParts.flatMap((part, index) => toChatPart(part, `u${index}`) ?? []);
    this.#messages.addUserMessage(message.messageId, parts, this.#taskId);
  }

  /** Applies a decision that the user has made, but that is not part of a message yet. */
  addDecision(decision: ApprovalDecision): void {
    this.#messages.applyDecision(decision);
  }

  /** Applies an event of the task's stream. */
  apply(event: StreamResponse): void {
    if ("task" in event) this.#applyTask(event.task);
    else if ("statusUpdate" in event) {
      const { taskId, contextId, status } = event.statusUpdate;
      this.#setIds(taskId, contextId);
      this.#applyStatus(status);
    } else if ("artifactUpdate" in event) {
      const { taskId, contextId, artifact, append } = event.artifactUpdate;
      this.#setIds(taskId, contextId);
      this.#applyArtifact(artifact, append);
    } else if (event.message.role === "ROLE_USER") this.addUserMessage(event.message);
    else this.#applyReply(event.message);
  }

  #setIds(taskId: string, contextId: string): void {
    this.#contextId = contextId;
    if (this.#taskId === taskId) return;
    this.#taskId = taskId;
    this.#messages.setTaskId(taskId);
  }

  #applyTask({ id, contextId, history = [], artifacts = [], status }: Task): void {
    this.#setIds(id, contextId);
    for (const [index, message] of history.entries()) {
      if (message.role === "ROLE_USER") this.addUserMessage(message);
      // Only a question precedes a message of the user. Other messages report progress that is over.
      else this.#applyAgentMessage(message, history[index + 1]?.role === "ROLE_USER");
    }
    for (const artifact of artifacts) this.#applyArtifact(artifact, false);
    this.#applyStatus(status);
  }

  #applyStatus(status: TaskStatus): void {
    this.#status = status;
    const { state, message } = status;
    const isResult = isInterrupted(state) || state === "TASK_STATE_COMPLETED";
    this.#progressText = isResult || isTerminal(state) ? "" : getText(message?.parts ?? []);
    if (message) this.#applyAgentMessage(message, isResult);
  }

  #applyAgentMessage({ messageId, parts }: Message, includesText: boolean): void {
    if (this.#seenMessageIds.has(messageId)) return;
    this.#seenMessageIds.add(messageId);
    const hasApprovalRequest = parts.some((part) => findToolEvent(part)?.type === "approval-request");
    for (const part of parts) {
      // The text of an approval request repeats the name of the tool.
      if ("text" in part && (!includesText || hasApprovalRequest)) continue;
      this.#addPart(part, { key: `m:${messageId}`, isReasoning: false });
    }
  }

  #applyReply(message: Message): void {
    this.#hasReply = true;
    this.#messages.setReplyId(message.messageId);
    this.#applyAgentMessage(message, true);
  }

  #applyArtifact(artifact: Artifact, append: boolean | undefined): void {
    const { artifactId, metadata } = artifact;
    const key = `a:${artifactId}`;
    const isReasoning = metadata?.["thought"] === true;
    const { parts, isContinuation } = this.#artifacts.addUpdate({ artifact, append: append === true });
    if (!isContinuation) this.#messages.removeParts(key);
    if (parts.length > 0 && !isReasoning) this.#progressText = "";
    for (const part of parts) this.#addPart(part, { key, isReasoning });
  }

  #addPart(part: Part, origin: { readonly key: string; readonly isReasoning: boolean }): void {
    const toolEvent = findToolEvent(part);
    if (toolEvent && this.#messages.applyToolEvent(toolEvent, origin.key)) return;
    if ("text" in part) {
      const isThought = origin.isReasoning || part.metadata?.["adk_thought"] === true;
      this.#messages.appendText(isThought ? "reasoning" : "text", part.text, origin.key);
      return;
    }
    this.#messages.addPart((id) => toChatPart(part, id), origin.key);
  }
}

/** Returns the messages of a stored task. */
export function toChatMessages(task: Task): readonly ChatMessage[] {
  const view = new TaskView();
  view.apply({ task });
  return view.messages;
}

/** Converts a part to a part of a chat message. Returns `undefined` for an empty text. */
function toChatPart(part: Part, id: string): ChatPart | undefined {
  if ("text" in part) return part.text === "" ? undefined : { type: "text", id, text: part.text };
  if ("raw" in part || "url" in part) return { type: "file", id, file: part };
  const source = findSource(part.data);
  if (source) return { type: "source", id, ...source };
  return { type: "data", id, data: part.data, ...(part.metadata ? { metadata: part.metadata } : {}) };
}

/** Finds the web page in the data part with which the adapters of Colloquy report a source. */
function findSource(data: JsonValue): { readonly url: string; readonly title: string } | undefined {
  if (typeof data !== "object" || data === null || Array.isArray(data) || data["type"] !== "source")
    return undefined;
  const { url, title } = data;
  return typeof url === "string" ? { url, title: typeof title === "string" ? title : "" } : undefined;
}

/**
 * The messages of a task, as an immutable list that each change replaces. Output of the agent is added to the last
 * message if it belongs to the agent, and otherwise begins a message.
 */
class AgentMessageList {
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

  /** Applies a change of a tool call, which the artifact or message `key` contains. Returns false for the result of an unknown call. */
  applyToolEvent(event: ToolEvent, key: string): boolean {
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
      else this.addPart((id) => ({ type: "tool", id, toolCallId, toolName, ...input, ...change }), key);
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
