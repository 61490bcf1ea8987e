import { fold, isEventRefusal, type JsonObject, type Task, type TaskEvent } from "../../../protocol/index.ts";
import { isEntryOfKind } from "../model/traffic-call.ts";
import type { TrafficTask } from "../model/traffic-task.ts";

/**
 * Rebuilds a task from the events of a record: from the log of a server, or otherwise from the stream with the most
 * frames, or from the last response that contains the task. Returns `undefined` if the record contains no bodies.
 */
export function reconstructTask(task: TrafficTask): Task | undefined {
  const logged = task.entries.flatMap((entry) =>
    isEntryOfKind(entry, "event") && entry.line.event && !task.duplicateEvents.includes(entry)
      ? [{ logSeq: entry.line.log_seq, event: entry.line.event }]
      : [],
  );
  if (logged.length > 0)
    return foldEvents(logged.toSorted((a, b) => a.logSeq - b.logSeq).map(({ event }) => event));
  const longest = [...task.calls].toSorted((a, b) => b.frameCount - a.frameCount)[0];
  const streamed = task.entries.flatMap((entry) =>
    isEntryOfKind(entry, "frame") &&
    `${entry.line.writer}/${entry.line.call}` === longest?.key &&
    entry.line.event
      ? [entry.line.event]
      : [],
  );
  return foldEvents(streamed) ?? findTaskInResponses(task);
}

function foldEvents(events: readonly JsonObject[]): Task | undefined {
  let task: Task | undefined;
  for (const event of events) {
    try {
      // The event comes from a file. An event with an invalid shape throws, and is skipped.
      const result =
        "task" in event
          ? fold(undefined, event as unknown as TaskEvent)
          : fold(task, event as unknown as TaskEvent);
      if (!isEventRefusal(result)) task = result;
    } catch {
      continue;
    }
  }
  return task;
}

function findTaskInResponses(task: TrafficTask): Task | undefined {
  for (const entry of task.entries.toReversed()) {
    if (!isEntryOfKind(entry, "response")) continue;
    const { body } = entry.line;
    if (typeof body !== "object" || body === null || Array.isArray(body)) continue;
    const candidate = body["task"] ?? body;
    const found = foldEvents([{ task: candidate }]);
    if (found?.id === task.id) return found;
  }
  return undefined;
}
