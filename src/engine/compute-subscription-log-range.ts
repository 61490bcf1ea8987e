import { A2AError, copyTask, fold, isEventRefusal, LogEvent, type Task } from "../protocol/index.ts";
import type { SubscriptionLogRange } from "./log-subscription.ts";
import type { TaskMessageAcceptResult } from "./message-accept-result.ts";
import type { TurnStartPoint } from "./turn.ts";

/**
 * Returns the start and end positions of the response stream for a message. A resumed stream starts after the
 * last event that the client received. Any other stream starts with the task at the start of the message's
 * turn, without the artifacts of earlier turns. If the message answers a question, the stream starts after the
 * task has changed to WORKING, because clients treat an interrupted task as a new question.
 */
export function computeSubscriptionLogRange(
  accepted: TaskMessageAcceptResult,
  seq: number,
  resumeAfterSeq: number | undefined,
): SubscriptionLogRange {
  const { liveTask } = accepted.feed;
  if (resumeAfterSeq !== undefined)
    return { afterSeq: requireResumeSeq(liveTask.seq, resumeAfterSeq), turnSeq: seq };
  // The first turn covers the entire log, which starts with the task's creation.
  if (seq === 1) return { afterSeq: 0, turnSeq: seq };
  const startPoint = "turn" in accepted ? accepted.turn.startPoint : undefined;
  const { seq: afterSeq, task } = startPoint
    ? toWorkingStartPoint(startPoint)
    : { seq: liveTask.seq, task: liveTask.getSnapshot() };
  const openingTask = startPoint ? withoutArtifacts(task) : task;
  return { afterSeq, openingEvent: LogEvent.create(afterSeq, { task: openingTask }), turnSeq: seq };
}

/**
 * Removes the artifacts of earlier turns. Clients treat every artifact of a response stream as part of the
 * answer, and the servers of the official SDKs send no earlier artifacts in such a stream.
 */
function withoutArtifacts(task: Task): Task {
  const { artifacts: _, ...rest } = task;
  return rest;
}

/** Applies the event that changes the task at the start point to WORKING. */
function toWorkingStartPoint(startPoint: TurnStartPoint): TurnStartPoint {
  const { task, seq, workingEvent } = startPoint;
  const working = workingEvent && fold(copyTask(task), workingEvent);
  return working && !isEventRefusal(working) ? { task: working, seq: seq + 1 } : startPoint;
}

/** Returns `resumeAfterSeq`, or throws `INVALID_PARAMS` if the log does not contain `resumeAfterSeq`. */
export function requireResumeSeq(lastSeq: number, resumeAfterSeq: number): number {
  if (resumeAfterSeq <= lastSeq) return resumeAfterSeq;
  const description = `${resumeAfterSeq} is greater than the number of the task's last event, ${lastSeq}; subscribe without it`;
  throw A2AError.invalidParams([{ field: "Last-Event-ID", description }]);
}
