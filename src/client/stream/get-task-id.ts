import type { StreamResponse } from "../../protocol/index.ts";

/** Returns the id of the task that an event belongs to. Returns `undefined` for a message without a task. */
export function getTaskId(event: StreamResponse): string | undefined {
  if ("task" in event) return event.task.id;
  if ("statusUpdate" in event) return event.statusUpdate.taskId;
  return "artifactUpdate" in event ? event.artifactUpdate.taskId : event.message.taskId;
}
