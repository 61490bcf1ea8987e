import { setTimeout as pause } from "node:timers/promises";
import { createUserMessage, fetchTask } from "../../test/support/http-bindings.ts";
import { readSseStream, type StreamRequest } from "../../test/support/raw-stream.ts";
import type { Task } from "../../src/protocol/index.ts";

export const POLICIES = ["fail", "restart", "resume"] as const;

/** A task, and the events of its log that clients have received. */
export interface ObservedTask {
  readonly agentUrl: string;
  readonly taskId: string;
  readonly frames: Map<number, string>;
}

/** Latencies and outcomes of one kind of request, in milliseconds. */
export interface RequestStatistics {
  count: number;
  maxMs: number;
  failures: string[];
}

export const createRequestStatistics = (): RequestStatistics => ({ count: 0, maxMs: 0, failures: [] });

/** Clients that keep a server busy, and record all that the server tells them. */
export class LoadClients {
  readonly tasks: ObservedTask[] = [];
  readonly problems: string[] = [];
  readonly reads: RequestStatistics = createRequestStatistics();
  readonly healthChecks: RequestStatistics = createRequestStatistics();
  /** Requests that the server refused, with the time since the start of the request. */
  readonly refusals: { at: number; ms: number; retryAfter: string | null }[] = [];
  acceptedCount = 0;
  readonly #url: string;
  readonly #runs: Promise<void>[] = [];
  #startsTasks = true;
  #isStopped = false;
  #lastMessageNumber = 0;

  constructor(url: string) {
    this.#url = url;
  }

  start(streamsPerPolicy: number, finished: readonly { url: string; task: Task }[]): void {
    for (const policy of POLICIES)
      for (let at = 0; at < streamsPerPolicy; at++)
        this.#runs.push(this.#streamTasks(`${this.#url}/a2a/${policy}`));
    this.#runs.push(this.#readFinishedTasks(finished), this.#checkHealth(), this.#sendShortMessages());
  }

  stopStartingTasks(): void {
    this.#startsTasks = false;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.race([Promise.allSettled(this.#runs), pause(2_000)]);
  }

  async #streamTasks(agentUrl: string): Promise<void> {
    while (this.#startsTasks && !this.#isStopped) {
      const message = createUserMessage(`m-${++this.#lastMessageNumber}`, "count");
      let observed: ObservedTask | undefined;
      while (!this.#isStopped) {
        const request = observed
          ? createSubscribeRequest(agentUrl, observed.taskId, Math.max(0, ...observed.frames.keys()))
          : { url: `${agentUrl}/message:stream`, body: { message } };
        try {
          let isComplete = false;
          for await (const { id, data } of readSseStream(request)) {
            const event = JSON.parse(data) as StreamEventJson;
            if (event.error) break;
            observed ??= this.#observeTask(agentUrl, event.task?.id ?? "");
            this.#recordFrame(observed, id, data);
            const state = event.task?.status.state ?? event.statusUpdate?.status.state ?? "";
            isComplete = /COMPLETED|FAILED|CANCELED/.test(state);
          }
          if (isComplete) break;
        } catch {
          // A refused or broken stream is repeated with the same message id.
        }
        if (!this.#startsTasks && !observed) return;
        await pause(100);
      }
    }
  }

  #observeTask(agentUrl: string, taskId: string): ObservedTask {
    if (!taskId) this.problems.push("a stream did not start with a task");
    const observed = { agentUrl, taskId, frames: new Map<number, string>() };
    this.tasks.push(observed);
    return observed;
  }

  #recordFrame({ frames, taskId }: ObservedTask, id: number, data: string): void {
    const known = frames.get(id);
    if (known !== undefined && known !== data) this.problems.push(`event ${id} of task ${taskId} changed`);
    frames.set(id, data);
  }

  async #readFinishedTasks(finished: readonly { url: string; task: Task }[]): Promise<void> {
    for (let at = 0; !this.#isStopped; at++) {
      const next = finished[at % finished.length];
      if (!next) return;
      await measureRequest(this.reads, async () => {
        const task = await fetchTask(next.url, next.task.id);
        if (JSON.stringify(task) !== JSON.stringify(next.task))
          throw new Error(JSON.stringify(task).slice(0, 200));
      });
      await pause(50);
    }
  }

  async #checkHealth(): Promise<void> {
    while (!this.#isStopped) {
      await measureRequest(this.healthChecks, async () => {
        const { status } = await fetch(`${this.#url}/healthz`);
        if (status !== 200) throw new Error(String(status));
      });
      await pause(50);
    }
  }

  /** Sends messages whose turn takes no time, and compares each answer with the stored task. */
  async #sendShortMessages(): Promise<void> {
    for (let at = 0; this.#startsTasks && !this.#isStopped; at++) {
      const agentUrl = `${this.#url}/a2a/${POLICIES[at % POLICIES.length] ?? "fail"}`;
      const startedAt = performance.now();
      const response = await fetch(`${agentUrl}/message:send`, {
        method: "POST",
        headers: { "a2a-version": "1.0", "content-type": "application/json" },
        body: JSON.stringify({ message: createUserMessage(`short-${at}`, "short") }),
      }).catch((error: unknown) => String(error));
      const ms = performance.now() - startedAt;
      if (typeof response === "string") this.problems.push(`a message was not answered: ${response}`);
      else if (response.status === 503)
        this.refusals.push({ at: startedAt, ms, retryAfter: response.headers.get("retry-after") });
      else if (response.status === 200) await this.#recordAnswer(agentUrl, response);
      else this.problems.push(`a message was answered with ${response.status}: ${await response.text()}`);
      await pause(100);
    }
  }

  async #recordAnswer(agentUrl: string, response: Response): Promise<void> {
    this.acceptedCount++;
    const { task } = (await response.json()) as { task: Task };
    const stored = await fetchTask(agentUrl, task.id);
    if (JSON.stringify(stored.artifacts) !== JSON.stringify(task.artifacts))
      this.problems.push(`the answer differs from task ${task.id}`);
  }
}

/** Reads the whole log of a task, as a client that has no event, for at most `timeoutMs` milliseconds. */
export async function readWholeLog(
  { agentUrl, taskId }: Pick<ObservedTask, "agentUrl" | "taskId">,
  timeoutMs: number,
): Promise<Map<number, string>> {
  const frames = new Map<number, string>();
  const read = async (): Promise<void> => {
    for await (const { id, data } of readSseStream(createSubscribeRequest(agentUrl, taskId, 0)))
      frames.set(id, data);
  };
  await Promise.race([read().catch(() => {}), pause(timeoutMs)]);
  return frames;
}

interface StreamEventJson {
  readonly task?: Task;
  readonly statusUpdate?: { readonly status: { readonly state: string } };
  readonly error?: object;
}

function createSubscribeRequest(agentUrl: string, taskId: string, after: number): StreamRequest {
  return { url: `${agentUrl}/tasks/${taskId}:subscribe`, headers: { "last-event-id": String(after) } };
}

async function measureRequest(statistics: RequestStatistics, request: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  try {
    await request();
  } catch (error) {
    statistics.failures.push(String(error));
  }
  statistics.count++;
  statistics.maxMs = Math.max(statistics.maxMs, performance.now() - startedAt);
}
