import {
  copyTask,
  fold,
  isEventRefusal,
  isInterrupted,
  type Message,
  type Task,
  type TaskEvent,
} from "../protocol/index.ts";
import type { Agent } from "./agent.ts";
import type { LiveTask } from "./live-task.ts";
import { extractMessageWebhookRegistration } from "./push-notifications.ts";
import { hasPersistedTurns } from "./replaceable-agent.ts";
import { RestartedTurnArtifactRewriter } from "./restarted-turn-artifacts.ts";
import { toStatusUpdate } from "./to-task-event.ts";
import type { Turn, TurnStartPoint } from "./turn.ts";

/** Size in characters of a new task without its message: its ids and its status. */
const MAX_SIZE_OF_NEW_TASK = 400;

/** Returns a copy of the task that contains the message of a new turn. */
export function buildTaskWithTurnMessage(liveTask: LiveTask, message: Message): Task {
  if (liveTask.state === undefined) {
    const status = { state: "TASK_STATE_SUBMITTED", timestamp: liveTask.getNextStatusTimestamp() } as const;
    return { id: liveTask.taskId, contextId: liveTask.contextId, status, history: [message] };
  }
  // A finished task refuses the message, and `fold` does not change the task.
  const snapshot = liveTask.getSnapshot();
  const task = fold(snapshot, { message });
  return isEventRefusal(task) ? snapshot : task;
}

/**
 * Returns the form of a message for the history of its task. A turn that another process can repeat requires the complete
 * message.
 */
export function toStoredMessage(message: Message, agent: Agent): Message {
  return agent.redactMessage && !hasPersistedTurns(agent) ? agent.redactMessage(message) : message;
}

/**
 * Enqueues the event with which a turn begins, and its webhook. `queuePosition` is the position of a turn that has waited
 * in the queue. Returns the start point of the turn, or `undefined` if the task cannot accept the message.
 */
export function enqueueTurnStart(
  turn: Turn,
  liveTask: LiveTask,
  queuePosition: number | undefined,
  agent: Agent,
): TurnStartPoint | undefined {
  const storedMessage = toStoredMessage(turn.message, agent);
  const task = buildTaskWithTurnMessage(liveTask, storedMessage);
  const startPoint = { task, seq: liveTask.seq + 1 };
  turn.startPoint = startPoint;
  const event: TaskEvent = liveTask.state === undefined ? { task } : { message: storedMessage };
  const { message, durableSeq, request, serviceParameters } = turn;
  const { requestSize } = serviceParameters;
  const refusal = liveTask.validateAndEnqueueMessageEvent(
    event,
    {
      messageId: message.messageId,
      durableSeq,
      webhook: extractMessageWebhookRegistration(request, liveTask.taskId, serviceParameters),
      wasQueued: queuePosition !== undefined,
    },
    requestSize === undefined ? undefined : requestSize + MAX_SIZE_OF_NEW_TASK,
  );
  if (refusal) return undefined;
  if (queuePosition !== undefined) liveTask.removeQueuedTurnsThrough(queuePosition);
  return startPoint;
}

/**
 * Restores the start of a turn that an earlier server process accepted. `seq` is the sequence number of the turn's message,
 * and `initialTask` is the task at the start of the turn. Returns the task that the next attempt receives.
 */
export function restoreTurnStart(
  turn: Turn,
  liveTask: LiveTask,
  seq: number,
  initialTask: Task,
  mode: "restart" | "resume",
): Task {
  const task = mode === "restart" ? initialTask : liveTask.getSnapshot();
  const workingEvent = isInterrupted(initialTask.status.state)
    ? toStatusUpdate(liveTask, "TASK_STATE_WORKING", liveTask.getNextStatusTimestamp())
    : undefined;
  turn.startPoint = { task: copyTask(initialTask), seq, workingEvent };
  if (mode === "restart" && turn.attempt > 1)
    turn.artifactRestart = new RestartedTurnArtifactRewriter(turn.startPoint.task);
  turn.durableSeq.resolve(seq);
  return task;
}
