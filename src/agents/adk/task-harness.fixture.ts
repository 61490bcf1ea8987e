/** Test harness that applies the events of an agent to a task, without an engine. */
import type { Agent, AgentEvent, Caller, Run } from "../../engine/index.ts";
import {
  ArtifactContentTracker,
  fold,
  isEventRefusal,
  copyTask,
  type Message,
  type Part,
  type Task,
  type TaskEvent,
} from "../../protocol/index.ts";
import { unstoredRunSteps } from "../../engine/unstored-run-steps.fixture.ts";

interface RecordedTestTurn {
  events: AgentEvent[];
  states: string[];
  /** Parts of all artifact chunks, in order, without the parts that a last chunk repeats. */
  chunkParts: Part[];
  /** Error that the agent threw after its failed status. The engine would report it. */
  thrownError?: unknown;
}

/** Runs turns of one task with its agent. */
export class TaskHarness {
  readonly #agent: Agent;
  readonly #caller: Caller;
  #task: Task;
  #messageCount = 0;

  constructor(agent: Agent, options: { contextId?: string; caller?: Caller } = {}) {
    this.#agent = agent;
    const { contextId = "C", caller = { tenant: "", principal: "" } } = options;
    this.#caller = caller;
    this.#task = { id: "T", contextId, status: { state: "TASK_STATE_SUBMITTED" } };
  }

  get task(): Task {
    return copyTask(this.#task);
  }

  async send(
    content: string | Part[],
    more: Partial<Run> & { onEvent?: (event: AgentEvent) => void } = {},
  ): Promise<RecordedTestTurn> {
    const parts = typeof content === "string" ? [{ text: content }] : content;
    const message: Message = { messageId: `m${++this.#messageCount}`, role: "ROLE_USER", parts };
    // As in the engine, the task already contains the message of the turn.
    this.#applyEvent({ message });
    const task = this.task;
    const tracker = new ArtifactContentTracker();
    const turn: RecordedTestTurn = { events: [], states: [], chunkParts: [] };
    const run: Run = {
      taskId: task.id,
      contextId: task.contextId,
      message,
      task,
      attempt: 1,
      caller: this.#caller,
      configuration: {},
      isStreaming: true,
      metadata: {},
      protocolVersion: "1.0",
      extensions: [],
      ...unstoredRunSteps,
      loadReferencedTasks: () => Promise.resolve([]),
      listInterruptedTasks: () => Promise.resolve([]),
      signal: new AbortController().signal,
      ...more,
    };
    try {
      for await (const event of this.#agent.execute(run)) {
        turn.events.push(event);
        if ("status" in event) turn.states.push(event.status.state);
        if ("artifact" in event) turn.chunkParts.push(...tracker.addUpdate(event).parts);
        this.#applyEvent(agentEventToTaskEvent(task, event));
        more.onEvent?.(event);
      }
    } catch (error) {
      if (this.#task.status.state !== "TASK_STATE_FAILED") throw error;
      turn.thrownError = error;
    }
    return turn;
  }

  #applyEvent(event: TaskEvent): void {
    const next = fold(this.#task, event);
    if (isEventRefusal(next)) throw new Error(next.refusalReason);
    this.#task = next;
  }
}

function agentEventToTaskEvent({ id: taskId, contextId }: Task, event: AgentEvent): TaskEvent {
  if ("artifact" in event) return { artifactUpdate: { taskId, contextId, ...event } };
  if (!("status" in event)) throw new Error("A message is not a task event.");
  const { state, message } = event.status;
  const status = message
    ? { state, message: { messageId: "a", role: "ROLE_AGENT" as const, taskId, contextId, ...message } }
    : { state };
  const metadata = event.metadata ? { metadata: event.metadata } : {};
  return { statusUpdate: { taskId, contextId, status, ...metadata } };
}
