import {
  A2AError,
  isInterrupted,
  isTerminal,
  type EventRefusal,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";
import { withDiscardedMessageIds } from "./discarded-message-ids.ts";
import { generateErrorId } from "./id-generator.ts";
import type { LiveTask } from "./live-task.ts";
import { measureEventSize } from "./measure-size.ts";
import { createTaskTooLargeError } from "./task-errors.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { TaskTurns } from "./task-turns.ts";
import { toStatusUpdate, toTaskEventFromAgent, toTaskMessageFromAgent } from "./to-task-event.ts";
import type { StartedAgentIterator, Turn } from "./turn.ts";

type AgentOutputWriterDependencies = Pick<TurnDependencies, "generateId" | "observer" | "taskSizeLimit">;

/** Writes the events of an agent, and the final state of its task, into the live task. */
export class AgentOutputWriter {
  readonly #context: AgentOutputWriterDependencies;
  readonly #liveTask: LiveTask;
  readonly #turns: TaskTurns;

  constructor(context: AgentOutputWriterDependencies, liveTask: LiveTask, turns: TaskTurns) {
    this.#context = context;
    this.#liveTask = liveTask;
    this.#turns = turns;
  }

  /**
   * Stores the agent's events until the agent ends or its output is ignored. If the store cannot commit
   * events fast enough, the agent waits.
   */
  async writeOutput(turn: Turn, { iterator, firstResult }: StartedAgentIterator): Promise<void> {
    const liveTask = this.#liveTask;
    const timestamp = (): string => liveTask.getNextStatusTimestamp();
    let ended = false;
    try {
      let step = firstResult ?? (await iterator.next());
      while (!step.done) {
        if (turn.isFenced) return;
        const taskEvent = toTaskEventFromAgent(liveTask, step.value, timestamp, this.#context.generateId);
        const event = turn.artifactRestart ? turn.artifactRestart.rewriteArtifactEvent(taskEvent) : taskEvent;
        if (this.#isRepeatedWorkingStatus(turn, event)) {
          step = await iterator.next();
          continue;
        }
        const size = measureEventSize(event);
        if (liveTask.sizeMeter.exceedsLimitWith(size))
          throw createTaskTooLargeError(this.#context.taskSizeLimit);
        const refusal = this.#enqueueEvent(event, size);
        if (refusal) {
          const text = `The agent yielded an event that the task cannot accept: ${refusal.refusalReason}.`;
          throw new A2AError("INVALID_AGENT_RESPONSE", text);
        }
        if ("statusUpdate" in event) turn.lastState = event.statusUpdate.status.state;
        const capacity = liveTask.waitForCapacity();
        if (capacity) await capacity;
        step = await iterator.next();
      }
      ended = true;
    } finally {
      // Close an iterator that is abandoned before its end. Only an aborted turn waits for it, because `cancelGraceMs`
      // limits the wait, and another node may continue the turn.
      const closing = ended ? undefined : this.closeIterator(iterator);
      if (turn.isAborted) await closing;
    }
  }

  /** Returns true if the turn starts with a WORKING status although the task is already WORKING. */
  #isRepeatedWorkingStatus(turn: Turn, event: TaskEvent): boolean {
    const isFirst = turn.startPoint?.seq === 1 && turn.attempt === 1;
    if (turn.lastState !== undefined || isFirst || !("statusUpdate" in event)) return false;
    const { status, metadata } = event.statusUpdate;
    return (
      status.state === "TASK_STATE_WORKING" &&
      this.#liveTask.state === status.state &&
      !status.message &&
      !metadata
    );
  }

  /** Closes the agent's iterator and reports errors to the observer. */
  async closeIterator(iterator: StartedAgentIterator["iterator"]): Promise<void> {
    try {
      await iterator.return?.();
    } catch (error) {
      this.reportError(error);
    }
  }

  /** Writes the final state of the task if the agent did not set a final state. */
  writeFinalState(turn: Turn): void {
    const { state } = this.#liveTask;
    if (turn.isFenced || !state || isTerminal(state)) return;
    if (turn.cancelMetadata) this.writeStatus("TASK_STATE_CANCELED");
    else if (turn.stopReason) {
      // At INPUT_REQUIRED, the task waits for its user and needs no agent.
      if (!this.#turns.canContinueAfterRestart(turn) && state !== "TASK_STATE_INPUT_REQUIRED")
        this.writeStatus("TASK_STATE_FAILED", turn.stopReason);
    } else if (!turn.lastState || !isInterrupted(turn.lastState))
      this.writeStatus(turn.isInterrupted ? "TASK_STATE_INPUT_REQUIRED" : "TASK_STATE_COMPLETED");
  }

  writeFailure(turn: Turn, thrown: unknown): void {
    const { state } = this.#liveTask;
    if (turn.cancelMetadata || turn.stopReason || turn.isInterrupted) this.writeFinalState(turn);
    else if (turn.isFenced || !state || isTerminal(state)) this.reportError(thrown);
    else this.writeStatus("TASK_STATE_FAILED", this.#buildFailureText(thrown));
  }

  /**
   * Returns the failure message for the caller. The caller receives the message of an `A2AError`. The
   * message of any other error appears only in the server's log.
   */
  #buildFailureText(thrown: unknown): string {
    const errorId = generateErrorId(this.#context.generateId);
    this.reportError(thrown, errorId);
    return thrown instanceof A2AError
      ? thrown.message
      : `The agent failed. The server's log has the cause under error id ${errorId}.`;
  }

  writeStatus(state: TaskState, text?: string): TaskEvent {
    const message =
      text === undefined
        ? undefined
        : toTaskMessageFromAgent(this.#liveTask, { parts: [{ text }] }, this.#context.generateId);
    const event = toStatusUpdate(this.#liveTask, state, this.#liveTask.getNextStatusTimestamp(), message);
    const refusal = this.#enqueueEvent(event);
    if (refusal) this.reportError(new Error(refusal.refusalReason));
    return event;
  }

  /** Enqueues an event of the agent or the runner. The end of the task discards its queued messages. */
  #enqueueEvent(event: TaskEvent, size?: number): EventRefusal | undefined {
    const liveTask = this.#liveTask;
    const { queue } = this.#turns;
    const isLast = queue.length > 0 && "statusUpdate" in event && isTerminal(event.statusUpdate.status.state);
    if (!isLast) return liveTask.validateAndEnqueueEvent(event, size);
    const refusal = liveTask.validateAndEnqueueEvent(withDiscardedMessageIds(event, queue.messageIds));
    if (!refusal) liveTask.removeQueuedTurnsThrough(queue.lastPosition);
    return refusal;
  }

  /** An adapter that creates its own error id stores the id in the member `errorId` of the error. */
  reportError(error: unknown, errorId: string | undefined = getAdapterErrorId(error)): void {
    const traceparent = this.#turns.current?.span?.traceparent;
    const report = {
      where: "agent",
      error,
      taskId: this.#liveTask.taskId,
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    this.#context.observer.onError?.(errorId ? { ...report, errorId } : report);
  }
}

function getAdapterErrorId(error: unknown): string | undefined {
  return error instanceof Error && "errorId" in error ? String(error.errorId) : undefined;
}
