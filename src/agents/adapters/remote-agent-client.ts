import {
  addToResult,
  connect,
  type ConnectOptions,
  sendAndStreamUntilTurnEnd,
  type MessageInput,
  type A2AClient,
} from "../../client/index.ts";
import {
  A2AError,
  isInterrupted,
  isTerminal,
  isThought,
  type JsonValue,
  type Message,
  type Part,
  type SendMessageResponse,
  formatTaskState,
  type Task,
  getText,
} from "../../protocol/index.ts";

/**
 * The complete or partial answer of a remote agent. The answer can be serialized as JSON. Programs can store
 * the answer, and can pass the answer to a model.
 */
export interface RemoteAgentAnswer {
  /**
   * The state of the task, such as `working` or `input-required`. The state of an answer without a task is
   * `completed`.
   */
  readonly state: string;
  /** The text that the remote agent has sent as its answer. */
  readonly text: string;
  /** The text of the task's status, such as progress, a question, or the reason for a failure. */
  readonly status?: string;
  /** All data parts of the remote agent's answer. */
  readonly data?: readonly JsonValue[];
  /** All files of the remote agent's answer, as URLs or as base64 content. */
  readonly files?: readonly RemoteAgentFile[];
  readonly taskId?: string;
  readonly contextId?: string;
}

/** A file in a remote agent's answer. */
interface RemoteAgentFile {
  readonly filename?: string;
  readonly mediaType?: string;
  readonly url?: string;
  readonly raw?: string;
}

/** Options for a single call to a remote agent. */
interface RemoteAgentCallOptions {
  readonly signal: AbortSignal;
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly messageId?: string | undefined;
}

/** A client that connects to a remote agent on first use, and connects again after a failed connection. */
export class RemoteAgentClient {
  readonly #target: string | A2AClient;
  readonly #options: ConnectOptions;
  #connection: Promise<A2AClient> | undefined;

  constructor(target: string | A2AClient, options: ConnectOptions = {}) {
    this.#target = target;
    this.#options = options;
  }

  /**
   * Sends a message, and yields the answer so far after each update, until the agent finishes or asks a
   * question. If the signal aborts, the client cancels the task, and the iteration throws the signal's abort
   * reason.
   */
  async *streamAnswer(
    input: MessageInput,
    call: RemoteAgentCallOptions,
  ): AsyncGenerator<RemoteAgentAnswer, void, undefined> {
    const client = await this.#connect();
    const { signal, ...messageOptions } = call;
    const options = Object.fromEntries(
      Object.entries(messageOptions).filter(([, value]) => value !== undefined),
    );
    let answer: SendMessageResponse | undefined;
    for await (const event of sendAndStreamUntilTurnEnd(client, input, { ...options, signal })) {
      answer = addToResult(answer, event);
      if (answer)
        yield "message" in answer
          ? buildRemoteAnswerFromMessage(answer.message)
          : buildRemoteAnswerFromTask(answer.task);
    }
    if (!answer) throw new A2AError("INVALID_AGENT_RESPONSE", "The agent's stream ended without an answer.");
  }

  /**
   * Waits until the agent finishes or asks a question, and returns the answer to an earlier message. Returns
   * `undefined` if the task does not contain the message.
   */
  async findAnswerToSentMessage(
    messageId: string,
    taskId: string,
    signal: AbortSignal,
  ): Promise<RemoteAgentAnswer | undefined> {
    const client = await this.#connect();
    let task = await client.tasks.get(taskId, { signal });
    if (!task.history?.some((message) => message.messageId === messageId)) return undefined;
    if (!isTerminalOrInterrupted(task)) {
      for await (const event of client.tasks.subscribe(taskId, { signal })) {
        const updated = addToResult({ task }, event);
        if (updated && "task" in updated) task = updated.task;
        if (isTerminalOrInterrupted(task)) break;
      }
    }
    return buildRemoteAnswerFromTask(task);
  }

  #connect(): Promise<A2AClient> {
    if (typeof this.#target !== "string") return Promise.resolve(this.#target);
    this.#connection ??= connect(this.#target, this.#options).catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }
}

function isTerminalOrInterrupted({ status: { state } }: Task): boolean {
  return isTerminal(state) || isInterrupted(state);
}

function buildRemoteAnswerFromTask({ id, contextId, status, artifacts = [] }: Task): RemoteAgentAnswer {
  const parts = artifacts
    .filter(({ metadata }) => !isThought(metadata))
    .flatMap((artifact) => artifact.parts);
  const statusText = getText(status.message?.parts ?? []);
  // Some agents answer with the message of their final status.
  const isAnswer = isTerminal(status.state) && parts.length === 0;
  const statusParts = isAnswer || isInterrupted(status.state) ? (status.message?.parts ?? []) : [];
  return {
    ...extractAnswerContentFromParts([
      ...parts,
      ...statusParts.filter((part) => isAnswer || !("text" in part)),
    ]),
    state: formatTaskState(status.state),
    ...(statusText === "" ? {} : { status: statusText }),
    taskId: id,
    contextId,
  };
}

function buildRemoteAnswerFromMessage({ parts, contextId }: Message): RemoteAgentAnswer {
  return { ...extractAnswerContentFromParts(parts), state: "completed", ...(contextId ? { contextId } : {}) };
}

function extractAnswerContentFromParts(
  allParts: readonly Part[],
): Pick<RemoteAgentAnswer, "text" | "data" | "files"> {
  const parts = allParts.filter(({ metadata }) => !isThought(metadata));
  const data = parts.flatMap((part) => ("data" in part ? [part.data] : []));
  const files = parts.flatMap((part): RemoteAgentFile[] => {
    if (!("raw" in part || "url" in part)) return [];
    const { metadata: _, ...file } = part;
    return [file];
  });
  return {
    text: getText(parts),
    ...(data.length > 0 ? { data } : {}),
    ...(files.length > 0 ? { files } : {}),
  };
}
