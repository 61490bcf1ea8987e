import type { A2AClient } from "../../../client/index.ts";
import { A2AError, isInterrupted, isTerminal, type Task } from "../../../protocol/index.ts";
import { isA2AError } from "../is-a2a-error.ts";
import { QuestionLimiter } from "../question-limiter.ts";
import type { McpTask } from "./mcp-task.ts";
import { type McpTaskReference, parseMcpTaskId } from "./mcp-task-id.ts";
import { decodeTaskAnswer, findTaskQuestion } from "./task-question.ts";
import { toMcpTask } from "./to-mcp-task.ts";

/** The request data that an MCP task operation needs. */
export interface McpTaskCall {
  readonly signal: AbortSignal;
  /** HTTP headers for requests to the agents of this process, which authenticate the host's user. */
  readonly localHeaders: Readonly<Record<string, string>>;
  /** Whether the host's user answers the agent's questions. */
  readonly canAskUser: boolean;
}

/** An agent whose A2A tasks are offered as MCP tasks. */
export interface McpTaskAgent {
  readonly client: A2AClient;
  /** Whether the agent runs in this process. */
  readonly isLocal: boolean;
}

/** The agent and the ids of an MCP task. */
interface LocatedMcpTask {
  readonly reference: McpTaskReference;
  readonly client: A2AClient;
  readonly callOptions: { readonly signal: AbortSignal; readonly headers?: Readonly<Record<string, string>> };
}

/**
 * The operations of MCP Tasks, which read and change A2A tasks. The operations keep no state except for the times of
 * questions, so they also work for tasks from an earlier process. An agent accepts operations on a task only from the caller that
 * owns the task.
 */
export class McpTaskOperations {
  readonly questionLimiter: QuestionLimiter = new QuestionLimiter();
  readonly #agents: ReadonlyMap<string, McpTaskAgent>;

  constructor(agents: ReadonlyMap<string, McpTaskAgent>) {
    this.#agents = agents;
  }

  /** Converts an A2A task. The model answers the question of the task if the agent has asked the user too often. */
  toMcpTask(task: Task, reference: McpTaskReference, canAskUser: boolean): McpTask {
    return toMcpTask(
      task,
      reference,
      canAskUser && (!isInterrupted(task.status.state) || this.questionLimiter.allows(task)),
    );
  }

  /** Returns the current state of an MCP task (`tasks/get`). */
  async get(id: string, call: McpTaskCall): Promise<McpTask> {
    const { reference, client, callOptions } = this.#locate(id, call);
    const task = await client.tasks.get(reference.taskId, { ...callOptions, historyLength: 0 });
    return this.toMcpTask(task, reference, call.canAskUser);
  }

  /**
   * Sends the user's answer to the agent, or cancels the task if the user refuses to answer (`tasks/update`).
   * The operation ignores answers to any question except the current question. A repeated answer has the same
   * message id, so that the agent's server can ignore the repeated answer.
   */
  async update(id: string, responses: Readonly<Record<string, unknown>>, call: McpTaskCall): Promise<void> {
    const { reference, client, callOptions } = this.#locate(id, call);
    const { taskId } = reference;
    const task = await client.tasks.get(taskId, { ...callOptions, historyLength: 0 });
    const question = findTaskQuestion(task, reference.agentId);
    if (!question || !Object.hasOwn(responses, question.key)) return;
    const answer = decodeTaskAnswer(task, responses[question.key]);
    if (!answer)
      throw A2AError.invalidParams([
        { field: `inputResponses.${question.key}`, description: "must be an elicitation result" },
      ]);
    if (answer.kind === "refused") await cancelUnlessEnded(client, taskId, callOptions);
    else if (answer.kind === "text")
      await client.send(answer.text, {
        ...callOptions,
        taskId,
        messageId: `mcp-answer-${question.key}`,
        configuration: { returnImmediately: true },
      });
  }

  /** Requests the cancellation of an MCP task, unless the A2A task has already ended (`tasks/cancel`). */
  async cancel(id: string, call: McpTaskCall): Promise<void> {
    const { reference, client, callOptions } = this.#locate(id, call);
    await cancelUnlessEnded(client, reference.taskId, callOptions);
  }

  /**
   * Yields the current state of an MCP task, and the new state after each change of status, until the task
   * ends.
   */
  async *follow(id: string, call: McpTaskCall): AsyncGenerator<McpTask, void, undefined> {
    const { reference, client, callOptions } = this.#locate(id, call);
    let last: Task["status"] | undefined;
    for (;;) {
      const task = await client.tasks.get(reference.taskId, { ...callOptions, historyLength: 0 });
      if (JSON.stringify(task.status) !== JSON.stringify(last))
        yield this.toMcpTask(task, reference, call.canAskUser);
      last = task.status;
      if (isTerminal(last.state)) return;
      await waitForStatusUpdate(client, task, callOptions);
    }
  }

  #locate(id: string, { signal, localHeaders }: McpTaskCall): LocatedMcpTask {
    const reference = parseMcpTaskId(id);
    const agent = reference && this.#agents.get(reference.agentId);
    if (!agent) throw A2AError.taskNotFound(id);
    const { client, isLocal } = agent;
    return { reference, client, callOptions: { signal, ...(isLocal ? { headers: localHeaders } : {}) } };
  }
}

/** Cancels an A2A task unless the task has already ended. */
export async function cancelUnlessEnded(
  client: A2AClient,
  taskId: string,
  callOptions: Partial<LocatedMcpTask["callOptions"]>,
): Promise<void> {
  try {
    await client.tasks.cancel(taskId, callOptions);
  } catch (error) {
    if (!isA2AError(error) || error.reason !== "TASK_NOT_CANCELABLE") throw error;
  }
}

/** Resolves after the next status update of a task. */
async function waitForStatusUpdate(
  client: A2AClient,
  { id, status }: Task,
  callOptions: LocatedMcpTask["callOptions"],
): Promise<void> {
  try {
    for await (const event of client.tasks.subscribe(id, callOptions)) {
      const current =
        "task" in event ? event.task.status : "statusUpdate" in event && event.statusUpdate.status;
      if (current && JSON.stringify(current) !== JSON.stringify(status)) return;
    }
  } catch (error) {
    // The task has ended in the meantime, and ended tasks cannot be subscribed to.
    if (!isA2AError(error) || error.reason !== "UNSUPPORTED_OPERATION") throw error;
  }
}
