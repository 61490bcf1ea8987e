import { fold, isEventRefusal, type StreamResponse, type Task } from "../../../protocol/index.ts";

/**
 * Applies the event of a traffic line to a task. Returns `undefined` for events that A2A does not allow, because a
 * record can contain any JSON.
 */
export function foldRecordedEvent(task: Task | undefined, event: StreamResponse): Task | undefined {
  try {
    const folded = fold(task, event);
    return isEventRefusal(folded) ? undefined : folded;
  } catch {
    return undefined;
  }
}
