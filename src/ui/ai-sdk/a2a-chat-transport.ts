import type { ChatRequestOptions, ChatTransport, DynamicToolUIPart, UIMessage, UIMessageChunk } from "ai";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { A2AClient } from "../../client/index.ts";
import {
  isInterrupted,
  isObject,
  isTerminal,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type Task,
  type TaskState,
} from "../../protocol/index.ts";
import type { ChatMessage, ChatPart, ToolChatPart } from "../chat-message.ts";
import { createLazyClient } from "../create-lazy-client.ts";
import { type ApprovalDecision, createDecisionMessageId, createDecisionPart } from "../decode-tool-event.ts";
import { isText } from "../diff-parts.ts";
import { TaskView, toChatMessages } from "../task-view.ts";
import { toFileUrl } from "../to-file-url.ts";
import {
  type ChatClient,
  isAtAuthRequired,
  listTasksOfContext,
  replayTask,
  sendTurn,
  type TurnSteps,
  withCancellation,
} from "../turn-stream.ts";
import { type A2AMessageMetadata, UIMessageChunkEncoder } from "./ui-message-chunk-encoder.ts";

/** Options for `A2AChatTransport`. */
export interface A2AChatTransportOptions {
  /**
   * Whether an aborted request cancels the task, so that `stop()` of `useChat` stops the agent. `useChat` also aborts its
   * request when its component disappears, unless the option `chat` contains the chat. Default: true.
   */
  readonly cancelOnAbort?: boolean;
  /** Maximum number of tasks that `loadMessages` loads. Default: 50. */
  readonly maxTasks?: number;
}

const assertKnownOptions = defineOptionNames<A2AChatTransportOptions>()(
  "A2AChatTransport",
  "cancelOnAbort maxTasks",
);

const DEFAULT_MAX_TASKS = 50;

type SendOptions<MESSAGE extends UIMessage> = Parameters<ChatTransport<MESSAGE>["sendMessages"]>[0];
type ReconnectOptions = Parameters<ChatTransport<UIMessage>["reconnectToStream"]>[0];

/**
 * Connects `useChat` of the AI SDK to an A2A agent. Pass the URL of the agent, or a client that `connect` has returned.
 *
 * The id of the chat is the A2A context, so `useChat({ id, transport, resume: true })` with the same id continues a running
 * answer after a reload. `stop()` cancels the task. Tool calls become dynamic tool parts, and the answers of
 * `addToolApprovalResponse` reach the agent.
 */
export class A2AChatTransport<MESSAGE extends UIMessage = UIMessage> implements ChatTransport<MESSAGE> {
  /** A reconnected stream contains the answer from its beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #connect: () => Promise<ChatClient>;
  readonly #options: A2AChatTransportOptions;
  readonly #views = new Map<string, TaskView>();
  /** Tasks whose last answer `loadMessages` has left to `reconnectToStream`, by chat. */
  readonly #unloadedTaskIds = new Map<string, string>();
  readonly #latestReconnects = new Map<string, object>();

  constructor(agent: string | A2AClient, options: A2AChatTransportOptions = {}) {
    assertKnownOptions(options);
    this.#connect = createLazyClient(agent);
    this.#options = options;
  }

  /** Loads the messages of a chat for the option `messages` of `useChat`. A running answer follows by `resume`. */
  async loadMessages(chatId: string): Promise<UIMessage[]> {
    const client = await this.#connect();
    const { maxTasks = DEFAULT_MAX_TASKS } = this.#options;
    const [latest, ...earlier] = await listTasksOfContext(client, chatId, maxTasks);
    const earlierMessages = earlier.toReversed().flatMap(toChatMessages);
    const view = new TaskView();
    const isRunning = latest !== undefined && !hasTurnEnded(latest);
    if (latest) {
      if (isRunning) this.#unloadedTaskIds.set(chatId, latest.id);
      for await (const _ of replayTask(client, view, latest, {}))
        if (isRunning && hasAllQuestions(view, latest)) break;
      this.#views.set(chatId, view);
    }
    const messages = isRunning ? view.messages.slice(0, getLastAnswerIndex(view)) : view.messages;
    const metadata = view.state === undefined ? {} : { contextId: chatId, taskState: view.state };
    return [
      ...earlierMessages.map((message) => toUIMessage(message)),
      ...messages.map((message) => toUIMessage(message, message.role === "agent" ? metadata : {})),
    ];
  }

  async sendMessages({
    chatId,
    messages,
    trigger,
    abortSignal,
    headers,
    metadata,
  }: SendOptions<MESSAGE>): Promise<ReadableStream<UIMessageChunk>> {
    const client = await this.#connect();
    const connection = new AbortController();
    const call = { headers: toHeaderRecord(headers), signal: connection.signal };
    const last = messages.at(-1);
    const waiting = await this.#findWaitingView(client, chatId, messages, call);
    const decisions = last?.role === "assistant" ? listDecisions(last) : [];
    const lastUserMessage = messages.findLast(({ role }) => role === "user");
    const view = waiting ?? new TaskView();
    const isAnswer = waiting !== undefined && decisions.length > 0;
    if (!isAnswer && !lastUserMessage) throw new TypeError("The chat contains no message of the user.");
    const openCalls = view.messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool"));
    const parts: Part[] = isAnswer
      ? createDecisionParts(decisions, openCalls)
      : lastUserMessage
        ? fromUIMessage(lastUserMessage)
        : [];
    if (parts.length === 0)
      throw new TypeError("The message is empty, or its approval request was answered.");
    const isRepeatable = trigger === "submit-message" && lastUserMessage !== undefined;
    const message: Message = {
      // The agent processes a message with the same id only once.
      messageId: isAnswer
        ? createDecisionMessageId(
            view.taskId ?? "",
            decisions.map(({ approvalId }) => approvalId),
          )
        : isRepeatable
          ? lastUserMessage.id
          : crypto.randomUUID(),
      contextId: chatId,
      role: "ROLE_USER",
      parts,
      ...(view.taskId === undefined ? {} : { taskId: view.taskId }),
      ...(isObject(metadata) ? { metadata } : {}),
    };
    abortSignal?.throwIfAborted();
    this.#views.set(chatId, view);
    const continued = isAnswer ? view.messages.findLast(({ role }) => role === "agent") : undefined;
    const encoder = new UIMessageChunkEncoder(continued);
    const steps = sendTurn(client, view, message, call);
    return this.#createStream(client, view, encoder, steps, connection, abortSignal);
  }

  async reconnectToStream({
    chatId,
    abortSignal,
    headers,
  }: ReconnectOptions): Promise<ReadableStream<UIMessageChunk> | null> {
    const reconnect = {};
    this.#latestReconnects.set(chatId, reconnect);
    const client = await this.#connect();
    const connection = new AbortController();
    const call = { headers: toHeaderRecord(headers), signal: connection.signal };
    const [task] = await listTasksOfContext(client, chatId, 1, call);
    const isUnloaded = task !== undefined && this.#unloadedTaskIds.get(chatId) === task.id;
    // An agent can continue after AUTH_REQUIRED without a message.
    const known = this.#views.get(chatId);
    const hasContinued = known?.taskId === task?.id && known?.isWaiting && known.state !== task?.status.state;
    if (!task || (hasTurnEnded(task) && !isUnloaded && !hasContinued)) return null;
    abortSignal?.throwIfAborted();
    const view = new TaskView();
    this.#views.set(chatId, view);
    const steps = skipEarlierTurns(view, task, replayTask(client, view, task, call));
    // A newer reconnect replaces this stream, which is no reason to stop the agent.
    const isReplaced = (): boolean => this.#latestReconnects.get(chatId) !== reconnect;
    const encoder = new UIMessageChunkEncoder();
    return this.#createStream(client, view, encoder, steps, connection, abortSignal, isReplaced);
  }

  /** Returns the view of the task that waits for the user, or `undefined` if the message starts a task. */
  async #findWaitingView(
    client: ChatClient,
    chatId: string,
    messages: readonly UIMessage[],
    call: { readonly headers: Record<string, string> },
  ): Promise<TaskView | undefined> {
    const known = this.#views.get(chatId);
    if (known) return (await isStillWaiting(client, known, call)) ? known : undefined;
    const { taskId, taskState } = readMetadata(messages.findLast(({ role }) => role === "assistant"));
    if (taskId === undefined || !isInterrupted(taskState as TaskState)) return undefined;
    const view = new TaskView();
    const task = await client.tasks.get(taskId, call);
    for await (const _ of replayTask(client, view, task, call));
    return view.isWaiting ? view : undefined;
  }

  #createStream(
    client: ChatClient,
    view: TaskView,
    encoder: UIMessageChunkEncoder,
    steps: TurnSteps,
    connection: AbortController,
    abortSignal: AbortSignal | undefined,
    isReplaced: () => boolean = () => false,
  ): ReadableStream<UIMessageChunk> {
    const { cancelOnAbort = true } = this.#options;
    const stop = new AbortController();
    const iterator = withCancellation(client, view, steps, stop.signal);
    const onAbort = (): void => {
      // `useChat` replaces a reconnect by aborting it first. The replacement begins in the same turn of the event loop.
      setTimeout(() => {
        if (isReplaced()) connection.abort();
        else stop.abort();
        void disconnect(view, iterator);
      }, 0);
    };
    if (cancelOnAbort) abortSignal?.addEventListener("abort", onAbort, { once: true });
    return new ReadableStream<UIMessageChunk>({
      async pull(controller) {
        // A pull must enqueue at least one chunk, or close the stream.
        for (;;) {
          const { done } = await iterator.next();
          const chunks = done ? encoder.end(view) : encoder.encode(view);
          for (const chunk of chunks) controller.enqueue(chunk);
          if (done) {
            abortSignal?.removeEventListener("abort", onAbort);
            controller.close();
          }
          if (done || chunks.length > 0) return;
        }
      },
      async cancel() {
        // After an abort, `onAbort` decides about the agent.
        if (abortSignal?.aborted && cancelOnAbort) return;
        // Otherwise, the connection stays open until the agent continues.
        connection.abort();
        await iterator.return();
      },
    });
  }
}

/** Ends the connection as soon as the task has an id, without which `withCancellation` cannot cancel the task. */
async function disconnect(view: TaskView, iterator: TurnSteps): Promise<void> {
  try {
    while (view.taskId === undefined && !(await iterator.next()).done);
    await iterator.return();
  } catch {
    // The agent could not be reached, so there is nothing to stop.
  }
}

/** Yields only the steps of the latest answer. Earlier answers of the same task are other messages. */
async function* skipEarlierTurns(view: TaskView, task: Task, steps: TurnSteps): TurnSteps {
  for await (const step of steps) if (hasAllQuestions(view, task) || view.hasTurnEnded) yield step;
}

/** Returns true if the view contains all messages of the user, so that later output belongs to the latest answer. */
function hasAllQuestions(view: TaskView, { history = [] }: Task): boolean {
  return history.every(({ role, messageId }) => role !== "ROLE_USER" || view.hasMessage(messageId));
}

function getLastAnswerIndex({ messages }: TaskView): number {
  return messages.findLastIndex(({ role }) => role === "user") + 1;
}

function hasTurnEnded({ status: { state } }: Task): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/** Returns true if the next message answers the task. At AUTH_REQUIRED, the task can end without a message. */
async function isStillWaiting(
  client: ChatClient,
  view: TaskView,
  call: { readonly headers: Record<string, string> },
): Promise<boolean> {
  if (view.taskId === undefined || !isAtAuthRequired(view)) return view.isWaiting;
  const { status } = await client.tasks.get(view.taskId, call);
  return !isTerminal(status.state);
}

function toHeaderRecord(headers: ChatRequestOptions["headers"]): Record<string, string> {
  return Object.fromEntries(new Headers(headers).entries());
}

/** Converts the parts of a user's message to A2A parts. */
function fromUIMessage({ parts }: UIMessage): Part[] {
  return parts.flatMap((part): Part[] => {
    if (part.type === "text") return part.text === "" ? [] : [{ text: part.text }];
    if (part.type === "file") {
      const { mediaType, filename, url } = part;
      return [{ ...fromFileUrl(url), mediaType, ...(filename === undefined ? {} : { filename }) }];
    }
    return "data" in part ? [{ data: part.data as JsonValue }] : [];
  });
}

/** Returns the content of a data URL, and the address of another URL. */
function fromFileUrl(url: string): { raw: string } | { url: string } {
  const match = /^data:[^,]*;base64,/i.exec(url);
  if (match) return { raw: url.slice(match[0].length) };
  if (!url.startsWith("data:")) return { url };
  const text = new TextEncoder().encode(decodeURIComponent(url.slice(url.indexOf(",") + 1)));
  return { raw: btoa(Array.from(text, (byte) => String.fromCharCode(byte)).join("")) };
}

/** Returns the user's decisions in a message of the assistant. */
function listDecisions({ parts }: UIMessage): ApprovalDecision[] {
  return parts.flatMap((part) => {
    if (!("state" in part) || part.state !== "approval-responded") return [];
    const { id: approvalId, approved, reason } = part.approval;
    return [{ approvalId, approved, reason }];
  });
}

/** Creates the parts that answer the approval requests of the agent, in the format that the agent expects. */
function createDecisionParts(
  decisions: readonly ApprovalDecision[],
  openCalls: readonly ToolChatPart[],
): Part[] {
  return decisions.flatMap(({ approvalId, approved, reason }) => {
    const approval = openCalls.find((call) => call.approval?.id === approvalId)?.approval;
    return approval ? [createDecisionPart(approval, approved, reason)] : [];
  });
}

/** Reads the metadata that the transport has added to a message. */
function readMetadata(message: UIMessage | undefined): A2AMessageMetadata {
  const metadata: unknown = message?.metadata;
  if (!isObject(metadata)) return {};
  const { taskId, contextId, taskState } = metadata satisfies JsonObject;
  return {
    ...(typeof taskId === "string" ? { taskId } : {}),
    ...(typeof contextId === "string" ? { contextId } : {}),
    ...(typeof taskState === "string" ? { taskState } : {}),
  };
}

type UIPart = UIMessage["parts"][number];

/** Converts a message of a chat to a message of the AI SDK. */
function toUIMessage({ id, role, parts, taskId }: ChatMessage, metadata?: object): UIMessage {
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
