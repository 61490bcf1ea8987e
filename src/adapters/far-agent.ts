import { connect, type ConnectOptions, exchange, type Input, type Remote } from "../client/index.ts";
import {
  A2AError,
  fold,
  isInterrupted,
  isRefusal,
  isTerminal,
  type JsonValue,
  type Message,
  type Part,
  snapshot,
  stateName,
  type StreamResponse,
  type Task,
  textOf,
} from "../protocol/index.ts";

/** What is known of an agent's answer, at its end or on the way. JSON, so that it can be kept and shown to a model. */
export interface FarAnswer {
  /** `working`, `completed`, `input-required` …; an answer without a task is `completed`. */
  readonly state: string;
  /** What it answered until now. */
  readonly text: string;
  /** What it says of its state: what it is doing, what it asks, why it failed. */
  readonly status?: string;
  /** All data parts of the answer. */
  readonly data?: readonly JsonValue[];
  /** All files of the answer: where they are, or their content in base64. */
  readonly files?: readonly FarFile[];
  readonly taskId?: string;
  readonly contextId?: string;
}

export interface FarFile {
  readonly filename?: string;
  readonly mediaType?: string;
  readonly url?: string;
  readonly raw?: string;
}

export interface FarCall {
  readonly signal: AbortSignal;
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly messageId?: string | undefined;
}

/** An agent somewhere else: connected when it is first asked, and again after that went wrong. */
export class FarAgent {
  readonly #place: string | Remote;
  readonly #options: ConnectOptions;
  #connecting: Promise<Remote> | undefined;

  constructor(place: string | Remote, options: ConnectOptions = {}) {
    this.#place = place;
    this.#options = options;
  }

  /**
   * What it answers, each time that there is more of it, until it is done or asks. Aborting cancels its task, and throws the
   * signal's reason.
   */
  async *ask(input: Input, call: FarCall): AsyncGenerator<FarAnswer, void, undefined> {
    const remote = await this.#connect();
    const { signal, ...given } = call;
    const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    let known: Task | Message | undefined;
    for await (const event of exchange(remote, input, { ...options, signal })) {
      known = next(known, event);
      yield "messageId" in known ? ofMessage(known) : ofTask(known);
    }
    if (!known) throw new A2AError("INVALID_AGENT_RESPONSE", "The agent's stream ended without an answer.");
  }

  /** What it answered to a message that it was sent before, once it is done or asks; undefined: it has no such message. */
  async answerTo(messageId: string, taskId: string, signal: AbortSignal): Promise<FarAnswer | undefined> {
    const remote = await this.#connect();
    let task = await remote.task.get(taskId, { signal });
    if (!task.history?.some((message) => message.messageId === messageId)) return undefined;
    if (!isAtRest(task)) {
      for await (const event of remote.task.subscribe(taskId, { signal })) {
        const known = next(task, event);
        if ("status" in known) task = known;
        if (isAtRest(task)) break;
      }
    }
    return ofTask(task);
  }

  #connect(): Promise<Remote> {
    if (typeof this.#place !== "string") return Promise.resolve(this.#place);
    this.#connecting ??= connect(this.#place, this.#options).catch((error: unknown) => {
      this.#connecting = undefined;
      throw error;
    });
    return this.#connecting;
  }
}

function isAtRest({ status: { state } }: Task): boolean {
  return isTerminal(state) || isInterrupted(state);
}

function next(known: Task | Message | undefined, event: StreamResponse): Task | Message {
  if ("task" in event) return snapshot(event.task);
  const task = known && "status" in known ? known : undefined;
  if ("message" in event) return task ?? event.message;
  const { taskId: id, contextId } = "statusUpdate" in event ? event.statusUpdate : event.artifactUpdate;
  const folded = fold(task ?? { id, contextId, status: { state: "TASK_STATE_WORKING" } }, event);
  return isRefusal(folded) ? (task as Task) : folded;
}

function ofTask({ id, contextId, status, artifacts = [] }: Task): FarAnswer {
  const parts = artifacts
    .filter(({ metadata }) => !isThought(metadata))
    .flatMap((artifact) => artifact.parts);
  const words = textOf(status.message?.parts ?? []);
  // Some agents answer with the message of their last status.
  const isAnswer = isTerminal(status.state) && parts.length === 0;
  const said = isAnswer || isInterrupted(status.state) ? (status.message?.parts ?? []) : [];
  return {
    ...ofParts([...parts, ...said.filter((part) => isAnswer || !("text" in part))]),
    state: stateName(status.state),
    ...(words === "" ? {} : { status: words }),
    taskId: id,
    contextId,
  };
}

function ofMessage({ parts, contextId }: Message): FarAnswer {
  return { ...ofParts(parts), state: "completed", ...(contextId ? { contextId } : {}) };
}

function ofParts(all: readonly Part[]): Pick<FarAnswer, "text" | "data" | "files"> {
  const parts = all.filter(({ metadata }) => !isThought(metadata));
  const data = parts.flatMap((part) => ("data" in part ? [part.data] : []));
  const files = parts.flatMap((part): FarFile[] => {
    if (!("raw" in part || "url" in part)) return [];
    const { metadata: _, ...file } = part;
    return [file];
  });
  return {
    text: textOf(parts),
    ...(data.length > 0 ? { data } : {}),
    ...(files.length > 0 ? { files } : {}),
  };
}

function isThought(metadata: Part["metadata"]): boolean {
  return metadata?.["thought"] === true || metadata?.["adk_thought"] === true;
}
