import {
  fold,
  isEventRefusal,
  isInterrupted,
  isTerminal,
  type LogEvent,
  type Task,
  type TaskEvent,
  type TaskState,
  estimateJsonSize,
  isPlainTextPart,
} from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { TaskStore } from "./task-store.ts";
import type { TurnRequest } from "./turn.ts";

/** Applies committed events to a task. Throws if the events are no valid log. */
export function foldLogEvents(taskId: string, from: Task | undefined, events: readonly LogEvent[]): Task {
  let task = from;
  for (const { event } of events) {
    const folded = fold(task, event);
    // Every event was validated when it was accepted.
    if (isEventRefusal(folded))
      throw new Error(`The log of task ${taskId} is invalid: ${folded.refusalReason}`);
    task = folded;
  }
  if (!task) throw new Error(`The log of task ${taskId} is empty.`);
  return task;
}

/** Returns true if an event of a commit ends the turn, because the state is terminal or waits for the user. */
export function hasTurnStop(state: TaskState, events: readonly LogEvent[]): boolean {
  return isTurnStopState(state) && events.some(isTurnStopEvent);
}

/** Returns the status that the task has after an event, or `undefined` if the event has no status. */
export function getEventStatus(event: TaskEvent): Task["status"] | undefined {
  if ("statusUpdate" in event) return event.statusUpdate.status;
  return "task" in event ? event.task.status : undefined;
}

/** Returns true if an event ends the turn of its task, because the state is terminal or waits for the user. */
export function isTurnStopEvent({ event }: Pick<LogEvent, "event">): boolean {
  const state = "statusUpdate" in event ? event.statusUpdate.status.state : undefined;
  return state !== undefined && isTurnStopState(state);
}

function isTurnStopState(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/** Maximum size of a page when a task's log is read. */
export const LOG_PAGE_LIMIT: { readonly events: number; readonly maxBytes: number } = {
  events: 512,
  maxBytes: 256 * 1024,
};

/**
 * Yields the committed events of a task with `afterSeq < seq <= untilSeq`. The events are read from the store
 * page by page.
 */
export async function* readLog(
  store: TaskStore,
  { scope, taskId }: { readonly scope: TaskScope; readonly taskId: string },
  afterSeq: number,
  untilSeq: number = Infinity,
): AsyncGenerator<LogEvent, void> {
  let seq = afterSeq;
  while (seq < untilSeq) {
    const events = await store.readEvents(scope, taskId, seq, LOG_PAGE_LIMIT);
    const last = events.at(-1);
    if (!last) return;
    yield* events.filter((event) => event.seq <= untilSeq);
    seq = last.seq;
  }
}

/** Resolves with true if `test` returns true for an event of the log with `afterSeq < seq <= untilSeq`. */
export async function hasLoggedEvent(
  store: TaskStore,
  task: { readonly scope: TaskScope; readonly taskId: string },
  afterSeq: number,
  untilSeq: number,
  test: (event: LogEvent) => boolean,
): Promise<boolean> {
  for await (const event of readLog(store, task, afterSeq, untilSeq)) if (test(event)) return true;
  return false;
}

/** Size in characters of an event without its content: its ids, and the names of its members. */
const SIZE_WITHOUT_CONTENT = 256;
const SIZE_OF_PART_WITHOUT_TEXT = 12;

/** Returns the approximate size of a request in characters of JSON. A known size needs no walk over the message. */
export function measureRequestSize({
  request,
  serviceParameters,
}: Pick<TurnRequest, "request" | "serviceParameters">): number {
  return serviceParameters.requestSize ?? estimateJsonSize(request);
}

/**
 * Returns the approximate size of an event in characters of JSON. The size of a chunk of plain text, the most frequent
 * event, needs no walk over its members.
 */
export function measureEventSize(event: TaskEvent): number {
  return measurePlainTextChunk(event) ?? estimateJsonSize(event);
}

/** Returns the size of a chunk of plain text, or `undefined` for all other events. */
function measurePlainTextChunk(event: TaskEvent): number | undefined {
  if (!("artifactUpdate" in event)) return undefined;
  const { artifact, metadata } = event.artifactUpdate;
  const { name, description, extensions } = artifact;
  if (name !== undefined || description !== undefined || extensions !== undefined) return undefined;
  if (artifact.metadata !== undefined || metadata !== undefined) return undefined;
  let size = SIZE_WITHOUT_CONTENT;
  for (const part of artifact.parts) {
    if (!isPlainTextPart(part)) return undefined;
    size += SIZE_OF_PART_WITHOUT_TEXT + part.text.length;
  }
  return size;
}
