import { createUserMessage, fetchTask } from "../../test/support/http-bindings.ts";
import type { Task } from "../../src/protocol/index.ts";
import { createRequestStatistics, POLICIES, type RequestStatistics } from "./load-clients.ts";

/** Time in milliseconds after which a request must be answered: the store notices a lock after 0.3 s, and waits for 1 s. */
const MAX_ANSWER_MS = 2_500;

/** A task that waits for its user. */
interface WaitingTask {
  readonly agentUrl: string;
  readonly id: string;
}

interface SentMessage {
  readonly task: WaitingTask;
  readonly messageId: string;
}

/**
 * Requests to tasks that wait for their user. They discover a fault, or arrive during a fault, and need a commit before
 * their answer. Two messages at the same time start a turn, and a turn that waits in the queue of the task.
 */
export class FaultProbes {
  readonly requests: RequestStatistics = createRequestStatistics();
  readonly problems: string[] = [];
  readonly #url: string;
  readonly #tasks: WaitingTask[] = [];
  readonly #messages: SentMessage[] = [];
  readonly #canceled: WaitingTask[] = [];
  readonly #pending: Promise<void>[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  /** Creates the tasks for `rounds` calls of `send`. */
  async createTasks(rounds: number): Promise<void> {
    for (let at = 0; at < 2 * rounds; at++) {
      const agentUrl = `${this.#url}/a2a/${POLICIES[at % POLICIES.length] ?? "fail"}`;
      const message = createUserMessage(`waiting-${at}`, "ask");
      const { task } = (await (await post(`${agentUrl}/message:send`, { message })).json()) as { task: Task };
      if (task.status.state !== "TASK_STATE_INPUT_REQUIRED")
        this.problems.push(`task ${task.id} does not wait`);
      this.#tasks.push({ agentUrl, id: task.id });
    }
  }

  /** Sends messages to a waiting task, and cancels another one. */
  send(): void {
    const [first, second] = this.#tasks.splice(0, 2);
    if (!first || !second) throw new Error("All waiting tasks are used.");
    for (const part of ["a", "b"]) {
      const sent = { task: first, messageId: `probe-${first.id}-${part}` };
      this.#messages.push(sent);
      this.#pending.push(this.#measure("a message", () => sendMessage(sent)));
    }
    this.#canceled.push(second);
    this.#pending.push(
      this.#measure("a cancellation", () => post(`${second.agentUrl}/tasks/${second.id}:cancel`, {})),
    );
  }

  /** Repeats each request after the fault. Each message must be in the history of its task once. */
  async verify(): Promise<void> {
    await Promise.all(this.#pending);
    for (const sent of this.#messages) {
      const { status } = await sendMessage(sent);
      if (status !== 200)
        this.problems.push(`a message that was repeated after the fault was answered with ${status}`);
      const task = await fetchTask(sent.task.agentUrl, sent.task.id);
      const count = (task.history ?? []).filter(({ messageId }) => messageId === sent.messageId).length;
      if (count !== 1) this.problems.push(`message ${sent.messageId} is ${count} times in its task`);
    }
    for (const { agentUrl, id } of this.#canceled) {
      const { status } = await post(`${agentUrl}/tasks/${id}:cancel`, {});
      const task = await fetchTask(agentUrl, id);
      if (status !== 200 || task.status.state !== "TASK_STATE_CANCELED")
        this.problems.push(
          `a cancellation that was repeated was answered with ${status}, ${task.status.state}`,
        );
    }
  }

  async #measure(name: string, request: () => Promise<Response>): Promise<void> {
    const startedAt = performance.now();
    const response = await request().catch((error: unknown) => String(error));
    const ms = performance.now() - startedAt;
    this.requests.count++;
    this.requests.maxMs = Math.max(this.requests.maxMs, ms);
    if (typeof response === "string") this.problems.push(`${name} was not answered: ${response}`);
    else if (response.status === 503 && response.headers.get("retry-after") === null)
      this.problems.push(`${name} was refused without Retry-After`);
    else if (response.status !== 200 && response.status !== 503)
      this.problems.push(`${name} was answered with ${response.status}: ${await response.text()}`);
    if (ms > MAX_ANSWER_MS) this.problems.push(`${name} was answered only after ${Math.round(ms)} ms`);
  }
}

function sendMessage({ task, messageId }: SentMessage): Promise<Response> {
  return post(`${task.agentUrl}/message:send`, {
    message: { ...createUserMessage(messageId, "ask"), taskId: task.id },
  });
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "a2a-version": "1.0", "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(90_000),
  });
}
