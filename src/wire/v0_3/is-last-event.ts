import { isTerminal, type LogEvent, type StreamingOperation } from "../../protocol/index.ts";
import { isFinalStatus } from "./encode.ts";

/**
 * Returns `true` if a 0.3 stream ends after the event. A stream ends when its turn ends, with either a final
 * status update or a terminal task. The stream of a follow-up message starts with a task that still waits for
 * input. After this first event, the stream of the follow-up message continues.
 */
export function isLastEvent({ event }: LogEvent, operation: StreamingOperation): boolean {
  if ("statusUpdate" in event) return isFinalStatus(event.statusUpdate.status);
  if (!("task" in event)) return "message" in event;
  const { status } = event.task;
  return operation === "SubscribeToTask" ? isFinalStatus(status) : isTerminal(status.state);
}
