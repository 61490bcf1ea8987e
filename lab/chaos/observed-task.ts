import { setTimeout as pause } from "node:timers/promises";
import { readSseStream, type SseFrame } from "../../test/support/raw-stream.ts";
import {
  createSendRequest,
  createSubscribeRequest,
  decodeStreamData,
  isFinalState,
  readEventChunks,
  readEventState,
} from "./agent-requests.ts";
import { readMonotonicMs, type AgentPolicy, type AgentScript } from "./scripted-agents.ts";

const RECONNECT_DELAY_MS = 50;

/** How a client follows a task. */
export interface TaskFollowing {
  /** Returns the agent's URL for the next connection. */
  readonly chooseAgentUrl: () => string;
  /** Number of events after which the client breaks each connection. Default: never. */
  readonly eventsPerConnection?: number;
  /** Time in milliseconds without an event after which the client chooses another URL. Default: 5,000. */
  readonly silenceMs?: number;
  /** Ends the following. */
  readonly signal: AbortSignal;
}

/**
 * A task of the load, and the events that its client has received. The client repeats a broken stream: first with the
 * same message id, and then with the number of its last event.
 */
export class ObservedTask {
  readonly messageId: string;
  readonly policy: AgentPolicy;
  readonly script: AgentScript;
  /** Events by sequence number, as received. */
  readonly frames: Map<number, string> = new Map();
  /** Repeated events and gaps. */
  readonly problems: string[] = [];
  /** Time in milliseconds between the emission of each chunk and its arrival, for chunks that are not late. */
  readonly lagsMs: number[] = [];
  /** Number of refused requests by their error. */
  readonly refusals: Map<string, number> = new Map();
  taskId: string | undefined;
  finalState: string | undefined;
  connections = 0;
  /** Number of connections that the client broke because they were silent. */
  silences = 0;
  /** Longest time in milliseconds between two events. */
  longestPauseMs = 0;
  /** The state in the response to a cancel request. */
  acknowledgedCancelState: string | undefined;
  #lastEventAt: number | undefined;
  #connection: AbortController | undefined;

  constructor(messageId: string, policy: AgentPolicy, script: AgentScript) {
    this.messageId = messageId;
    this.policy = policy;
    this.script = script;
  }

  get lastSeq(): number {
    return this.frames.size === 0 ? 0 : Math.max(...this.frames.keys());
  }

  /** Breaks the current connection, so that the client chooses a new URL. */
  disconnect(): void {
    this.#connection?.abort();
  }

  /** Sends the message, and follows the task until its end. */
  async follow(following: TaskFollowing): Promise<void> {
    while (!following.signal.aborted && this.finalState === undefined) {
      await this.#readConnection(following);
      if (this.finalState === undefined) await pause(RECONNECT_DELAY_MS);
    }
  }

  async #readConnection(following: TaskFollowing): Promise<void> {
    const { chooseAgentUrl, eventsPerConnection = Infinity, silenceMs = 5000, signal } = following;
    const url = chooseAgentUrl();
    const request =
      this.taskId === undefined
        ? createSendRequest(url, this.messageId, this.script)
        : createSubscribeRequest(url, this.taskId, this.lastSeq);
    this.#connection = new AbortController();
    this.connections++;
    let received = 0;
    const watchdog = setTimeout(() => {
      this.silences++;
      this.disconnect();
    }, silenceMs);
    const connected = AbortSignal.any([signal, this.#connection.signal]);
    try {
      for await (const frame of readSseStream({ ...request, signal: connected })) {
        watchdog.refresh();
        this.#recordFrame(frame);
        if (++received >= eventsPerConnection || this.finalState !== undefined) return;
      }
    } catch (error) {
      const text = String(error);
      if (!connected.aborted) this.refusals.set(text, (this.refusals.get(text) ?? 0) + 1);
    } finally {
      clearTimeout(watchdog);
    }
  }

  #recordFrame({ id, data }: SseFrame): void {
    const now = readMonotonicMs();
    const event = decodeStreamData(data);
    if ("task" in event) this.taskId ??= event.task.id;
    const last = this.lastSeq;
    if (id <= last) this.problems.push(`task ${this.taskId} sent event ${id} after event ${last}`);
    else if (id > last + 1) this.problems.push(`task ${this.taskId} sent event ${id} directly after ${last}`);
    this.frames.set(id, data);
    if (this.#lastEventAt !== undefined)
      this.longestPauseMs = Math.max(this.longestPauseMs, now - this.#lastEventAt);
    this.#lastEventAt = now;
    if ("artifactUpdate" in event)
      for (const { emittedAt } of readEventChunks(event)) this.lagsMs.push(now - emittedAt);
    const state = readEventState(event);
    if (isFinalState(state)) this.finalState = state;
  }
}
