import type { A2AClient } from "../client/index.ts";
import { A2AError, isTerminal, type Message, type Part, type Task } from "../protocol/index.ts";
import { defineOptionNames } from "../base/usage-checks/index.ts";
import type { ChatMessage, ToolChatPart } from "./chat-message.ts";
import { type ChatPosition, type ChatStorage, findSessionStorage } from "./chat-storage.ts";
import { createLazyClient } from "./create-lazy-client.ts";
import { createDecisionMessageId, createDecisionPart, findApprovalDecision } from "./decode-tool-event.ts";
import { TaskView, toChatMessages } from "./task-view.ts";
import {
  cancelTask,
  type ChatClient,
  followWaitingTask,
  isAtAuthRequired,
  listTasksOfContext,
  replayTask,
  sendTurn,
  type TurnCallOptions,
  type TurnSteps,
  withCancellation,
} from "./turn-stream.ts";

/**
 * State of a chat. `reconnecting` means that the connection has broken in the middle of an answer, and that the client
 * tries again. `waiting` means that the agent has asked for an approval or for other input. `error` means that the
 * agent failed or could not be reached; `retry` tries again, and the next message starts a new task.
 */
export type ChatStatus = "loading" | "ready" | "sending" | "streaming" | "reconnecting" | "waiting" | "error";

/** The state of a chat at one moment. Each change creates a new object. */
export interface ChatSnapshot {
  readonly status: ChatStatus;
  readonly messages: readonly ChatMessage[];
  /** What the agent is doing, for example `Thinking…`. Empty if the agent has not reported its progress. */
  readonly progressText: string;
  /** Tool calls that wait for the decision of the user. */
  readonly approvals: readonly ToolChatPart[];
  /** The A2A context of the chat. */
  readonly contextId: string;
  readonly error?: Error;
}

/** Input of the user: a text, or parts such as files and data. */
export type ChatInput = string | readonly Part[];

/** Options for `createChat`. */
export interface ChatOptions {
  /** The A2A context of the chat. Default: the stored context, or a new one. */
  readonly contextId?: string;
  /** Storage for the position of the chat. Default: `sessionStorage` if it exists. `false` stores nothing. */
  readonly storage?: ChatStorage | false;
  /** Key of the position in the storage. Default: `colloquy-chat`. */
  readonly storageKey?: string;
  /** Maximum number of earlier tasks that `resume` loads. Default: 50. */
  readonly maxEarlierTasks?: number;
}

/** A conversation with one agent. */
export interface Chat {
  /** Returns the current state, which is the same object until the state changes. */
  readonly getSnapshot: () => ChatSnapshot;
  /** Calls the listener after each change, and returns a function that removes the listener. */
  readonly subscribe: (listener: () => void) => () => void;
  /**
   * Sends a message, and resolves at the end of the agent's turn. If the agent waits for input, the message answers the
   * question. Errors appear in the snapshot. Rejects if another turn is running, and if the message is empty.
   */
  send(input: ChatInput): Promise<void>;
  /** Decides about a tool call. After the last open decision, the agent continues, and the promise resolves at its end. */
  approve(approvalId: string, approved?: boolean, reason?: string): Promise<void>;
  /**
   * Tries again after an error. A message that the agent has not answered is sent with the same id, a turn that is still
   * running is read again, and after a failure of the agent the message begins a new task. Rejects without an error.
   */
  retry(): Promise<void>;
  /** Cancels the task, which aborts the agent's signal and with it the call of the model. */
  stop(): Promise<void>;
  /**
   * Loads the messages of the context, and follows a turn that is still running. Resolves at the end of the turn.
   * Repeated calls have no effect, except after an error.
   */
  resume(): Promise<void>;
  /** Stops reading. The agent continues, and a new chat can resume. */
  close(): void;
}

const assertKnownOptions = defineOptionNames<ChatOptions>()(
  "createChat",
  "contextId maxEarlierTasks storage storageKey",
);

const DEFAULT_MAX_EARLIER_TASKS = 50;
const DEFAULT_STORAGE_KEY = "colloquy-chat";
/** Reasons with which a server refuses a message for a task that has ended or that no longer exists. */
const TASK_REFUSALS: ReadonlySet<string> = new Set(["UNSUPPORTED_OPERATION", "TASK_NOT_FOUND"]);

/** The A2A context of a chat. `isNew` is true if the context cannot have tasks. */
interface ChatContext extends ChatPosition {
  readonly isNew: boolean;
}

/**
 * Creates a chat with an agent, without any framework. Pass the URL of the agent, or a client that `connect` has
 * returned. Call `resume` when the page loads.
 */
export function createChat(agent: string | A2AClient, options: ChatOptions = {}): Chat {
  assertKnownOptions(options);
  return new A2AChat(agent, options);
}

class A2AChat implements Chat {
  readonly #options: ChatOptions;
  readonly #storage: ChatStorage | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #connection = new AbortController();
  readonly #connect: () => Promise<ChatClient>;
  #snapshot: ChatSnapshot;
  #earlierMessages: readonly ChatMessage[] = [];
  #view: TaskView | undefined;
  /** The last message that the agent has not answered with any event. */
  #unansweredMessage: Message | undefined;
  /** The parts of the last message of the user that contains more than decisions, which a new task can begin with. */
  #lastParts: readonly Part[] | undefined;
  #stop: AbortController | undefined;
  /** Ends the reading of a task that waits at AUTH_REQUIRED. */
  #following: AbortController | undefined;
  /** The decisions about the current request, by approval id. The agent refuses decisions about earlier requests. */
  readonly #decisions = new Map<string, Part>();
  /** Follows the connection of a stream. */
  readonly #connectionListeners: Pick<TurnCallOptions, "onReconnect" | "onExtensionsActivated"> = {
    onReconnect: () => this.#publish("reconnecting"),
    onExtensionsActivated: () => {
      if (this.#snapshot.status === "reconnecting") this.#publish("streaming");
    },
  };
  #resumption: Promise<void> | undefined;
  #context: Promise<ChatContext> | undefined;

  constructor(agent: string | A2AClient, options: ChatOptions) {
    this.#connect = createLazyClient(agent, { signal: this.#connection.signal });
    this.#options = options;
    this.#storage = options.storage === false ? undefined : (options.storage ?? findSessionStorage());
    this.#snapshot = {
      status: "ready",
      messages: [],
      progressText: "",
      approvals: [],
      contextId: options.contextId ?? "",
    };
  }

  getSnapshot = (): ChatSnapshot => this.#snapshot;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  send = async (input: ChatInput): Promise<void> => {
    if (this.#stop || this.#snapshot.status === "streaming")
      throw new Error("The agent is still answering. Wait for its answer, or call stop().");
    const parts: Part[] = typeof input === "string" ? (input === "" ? [] : [{ text: input }]) : [...input];
    if (parts.length === 0) throw new TypeError("The message is empty. Pass a text or at least one part.");
    await this.#sendParts(parts);
  };

  approve = async (approvalId: string, approved = true, reason?: string): Promise<void> => {
    const view = this.#view;
    const approval = this.#snapshot.approvals.find((part) => part.approval?.id === approvalId)?.approval;
    if (!view || !approval)
      throw new Error(`No tool call waits for the decision ${JSON.stringify(approvalId)}.`);
    view.addDecision({ approvalId, approved, reason });
    this.#decisions.set(approvalId, createDecisionPart(approval, approved, reason));
    this.#publish("waiting");
    if (this.#snapshot.approvals.length > 0) return;
    const messageId = createDecisionMessageId(view.taskId ?? "", [...this.#decisions.keys()].toSorted());
    await this.#sendParts([...this.#decisions.values()], messageId);
  };

  retry = async (): Promise<void> => {
    if (this.#snapshot.status !== "error") throw new Error("The last turn has not failed. Call send().");
    const view = this.#view;
    const message = this.#unansweredMessage;
    if (view && message) {
      await this.#sendMessage(view, message);
      const { error } = this.#snapshot;
      // The task may have ended before the message reached the agent.
      const isRefused = error instanceof A2AError && TASK_REFUSALS.has(error.reason);
      if (!isRefused || message.taskId === undefined) return;
    } else if (view?.state !== undefined && isTerminal(view.state) && this.#lastParts)
      return await this.#sendParts(this.#lastParts);
    // After a failure of the agent, an earlier resumption has no error.
    this.#resumption = undefined;
    await this.resume();
  };

  stop = async (): Promise<void> => {
    const { status } = this.#snapshot;
    if (this.#stop) this.#stop.abort();
    else if (this.#view?.taskId !== undefined && (status === "waiting" || status === "streaming")) {
      this.#following?.abort();
      try {
        await cancelTask(await this.#connect(), this.#view.taskId);
      } catch (thrown) {
        return this.#publish("error", toError(thrown));
      }
      this.#keepEarlierMessages();
      this.#publish("ready");
    }
  };

  resume = (): Promise<void> => (this.#resumption ??= this.#resume());

  close = (): void => {
    this.#connection.abort();
    this.#listeners.clear();
  };

  /** Returns the context of the chat, which the options or the storage determine. A failed load is repeated. */
  #findContext(): Promise<ChatContext> {
    this.#context ??= (async () => {
      const { contextId, storageKey = DEFAULT_STORAGE_KEY } = this.#options;
      const stored = await this.#storage?.load(storageKey);
      if (contextId === undefined && !stored) return { contextId: crypto.randomUUID(), isNew: true };
      const isSameContext = contextId === undefined || contextId === stored?.contextId;
      return {
        contextId: contextId ?? stored?.contextId ?? "",
        isNew: false,
        ...(isSameContext && stored?.taskId !== undefined ? { taskId: stored.taskId } : {}),
      };
    })();
    this.#context.catch(() => (this.#context = undefined));
    return this.#context;
  }

  async #savePosition(position: ChatPosition): Promise<void> {
    this.#context = Promise.resolve({ ...position, isNew: false });
    try {
      await this.#storage?.save(this.#options.storageKey ?? DEFAULT_STORAGE_KEY, position);
    } catch {
      // A storage that fails is no reason to lose an answer.
    }
  }

  async #resume(): Promise<void> {
    // If the storage fails, `#runTurn` loads the position again, and publishes the error.
    const isNew = await this.#findContext().then(
      (context) => context.isNew,
      () => false,
    );
    if (isNew || this.#stop) return;
    this.#publish("loading");
    await this.#runTurn(async (client, { contextId, taskId }, signal) => {
      const tasks = await this.#listTasks(client, contextId, taskId);
      const [latest, ...earlier] = tasks;
      if (!latest) return undefined;
      this.#earlierMessages = earlier.toReversed().flatMap(toChatMessages);
      const view = new TaskView();
      this.#view = view;
      this.#unansweredMessage = undefined;
      for (const { role, parts } of latest.history ?? []) if (role === "ROLE_USER") this.#keepParts(parts);
      return replayTask(client, view, latest, { signal, ...this.#connectionListeners });
    });
  }

  /** Lists the tasks of the context, newest first. Agents that cannot list tasks have only the stored task. */
  async #listTasks(
    client: ChatClient,
    contextId: string,
    taskId: string | undefined,
  ): Promise<readonly Task[]> {
    const { maxEarlierTasks = DEFAULT_MAX_EARLIER_TASKS } = this.#options;
    const tasks = await listTasksOfContext(client, contextId, maxEarlierTasks + 1);
    return tasks.length > 0 || taskId === undefined ? tasks : [await client.tasks.get(taskId)];
  }

  async #sendParts(parts: readonly Part[], messageId: string = crypto.randomUUID()): Promise<void> {
    const waiting = this.#view?.isWaiting ? this.#view : undefined;
    if (!waiting) this.#keepEarlierMessages();
    const view = waiting ?? new TaskView();
    this.#view = view;
    const message: Message = {
      messageId,
      role: "ROLE_USER",
      parts: [...parts],
      ...(waiting?.taskId === undefined ? {} : { taskId: waiting.taskId }),
    };
    view.addUserMessage(message);
    this.#unansweredMessage = message;
    this.#keepParts(parts);
    await this.#sendMessage(view, message);
  }

  #keepParts(parts: readonly Part[]): void {
    if (!parts.every(findApprovalDecision)) this.#lastParts = parts;
  }

  async #sendMessage(view: TaskView, message: Message): Promise<void> {
    this.#publish("sending");
    await this.#runTurn((client, { contextId }, signal) =>
      sendTurn(
        client,
        view,
        { ...message, contextId },
        { signal, ...this.#connectionListeners },
        "ends-at-auth-required",
      ),
    );
  }

  /** Runs a turn, and publishes the state after each event. */
  async #runTurn(
    open: (
      client: ChatClient,
      context: ChatContext,
      signal: AbortSignal,
    ) => TurnSteps | Promise<TurnSteps | undefined>,
  ): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    this.#following?.abort();
    const { signal } = this.#connection;
    let error: Error | undefined;
    try {
      const context = await this.#findContext();
      const { contextId, isNew } = context;
      this.#snapshot = { ...this.#snapshot, contextId };
      // A page that is reloaded before the first event finds the message in the context.
      if (isNew) await this.#savePosition({ contextId });
      const client = await this.#connect();
      const steps = await open(client, context, signal);
      const view = this.#view;
      let isSaved = false;
      if (view && steps)
        for await (const _ of withCancellation(client, view, steps, stop.signal)) {
          this.#unansweredMessage = undefined;
          const { taskId } = view;
          if (!isSaved && taskId !== undefined) await this.#savePosition({ contextId, taskId });
          isSaved ||= taskId !== undefined;
          this.#publish(view.hasTurnEnded ? getStatusAfterTurn(view) : "streaming");
        }
    } catch (thrown) {
      error = toError(thrown);
    }
    this.#stop = undefined;
    if (error) this.#resumption = undefined;
    if (signal.aborted) return;
    this.#publishAfterTurn(error);
    if (!error && this.#view && isAtAuthRequired(this.#view)) void this.#follow(this.#view);
  }

  /**
   * Shows the output of an agent that continues after AUTH_REQUIRED without a message (A2A §7.6.1). The user can answer or
   * stop the task at the same time. A failed connection ends the reading until the next message or reload.
   */
  async #follow(view: TaskView): Promise<void> {
    this.#following = new AbortController();
    const signal = AbortSignal.any([this.#connection.signal, this.#following.signal]);
    try {
      for await (const _ of followWaitingTask(await this.#connect(), view, { signal }))
        this.#publishAfterTurn();
    } catch {
      if (!signal.aborted && this.#snapshot.status === "streaming") this.#publish("waiting");
    }
  }

  #publishAfterTurn(thrown?: Error): void {
    const errorText = this.#view?.errorText;
    const error = thrown ?? (errorText === undefined ? undefined : new Error(errorText));
    this.#publish(error ? "error" : getStatusAfterTurn(this.#view), error);
  }

  #keepEarlierMessages(): void {
    this.#earlierMessages = [...this.#earlierMessages, ...(this.#view?.messages ?? [])];
    this.#view = undefined;
  }

  #publish(status: ChatStatus, error?: Error): void {
    const view = this.#view;
    if (status !== "waiting") this.#decisions.clear();
    const messages = view ? [...this.#earlierMessages, ...view.messages] : this.#earlierMessages;
    const { contextId } = this.#snapshot;
    this.#snapshot = {
      status,
      messages,
      progressText: view?.progressText ?? "",
      approvals: status === "waiting" && view ? listOpenApprovals(view) : [],
      contextId,
      ...(error ? { error } : {}),
    };
    for (const listener of this.#listeners) listener();
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function getStatusAfterTurn(view: TaskView | undefined): ChatStatus {
  if (view?.state === undefined || isTerminal(view.state)) return "ready";
  return view.isWaiting ? "waiting" : "streaming";
}

function listOpenApprovals(view: TaskView): ToolChatPart[] {
  return view.messages.flatMap(({ parts }) =>
    parts.filter((part): part is ToolChatPart => part.type === "tool" && part.state === "approval-requested"),
  );
}
