import { isTerminal, type LogEvent, type StreamingOperation } from "../../protocol/index.ts";
import { isFinalStatus } from "./encode.ts";

/**
 * A stream of 0.3 ends where its turn does: at a final update, and at a task that can not go on. A follow-up message
 * is answered with the task as it was found, which still asks; its stream goes on.
 */
export function isLastEvent({ event }: LogEvent, operation: StreamingOperation): boolean {
  if ("statusUpdate" in event) return isFinalStatus(event.statusUpdate.status);
  if (!("task" in event)) return "message" in event;
  const { status } = event.task;
  return operation === "SubscribeToTask" ? isFinalStatus(status) : isTerminal(status.state);
}
