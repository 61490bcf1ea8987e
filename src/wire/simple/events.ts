import {
  type A2AError,
  isTerminal,
  textOf,
  type JsonObject,
  type LogEvent,
  type Task,
  type TaskEvent,
  type TaskStatus,
  type TaskStatusUpdateEvent,
  type WriteEvent,
} from "../../protocol/index.ts";
import { toSimpleError } from "./errors.ts";
import { writeArtifact, writeMessage, writeState } from "./write.ts";

/**
 * An event of a stream as the guide's server-sent events: `message`, `artifact` and, at the end, `done` or `error`. The
 * data says its `type` too, for readers that look at nothing else. An event that the guide has no word for is only its id,
 * from which a reader resumes. `endsAtQuestion`: the stream ends where the agent asks for input.
 */
export function writeEvent(event: LogEvent, endsAtQuestion: boolean): string {
  const text = event.writtenBy(endsAtQuestion ? writeToQuestion : writeToEnd);
  // Within the last frame, so that a reader that was cut between two gets both again.
  return event.seq > 0 ? `${text.slice(0, -1)}id: ${event.seq}\n\n` : text;
}

const writeToQuestion: WriteEvent = (event) => framesOf(event, true).join("");
const writeToEnd: WriteEvent = (event) => framesOf(event, false).join("");

function framesOf(event: TaskEvent, endsAtQuestion: boolean): string[] {
  if ("message" in event)
    return [frame("message", writeMessage(event.message)), frame("done", { status: "completed" })];
  if ("statusUpdate" in event) return statusFrames(event.statusUpdate, endsAtQuestion);
  if ("task" in event) return taskFrames(event.task);
  const { taskId, artifact, append, lastChunk } = event.artifactUpdate;
  const chunk = { ...(append ? { append } : {}), ...(lastChunk ? { lastChunk } : {}) };
  return [frame("artifact", { ...writeArtifact(artifact), ...chunk, taskId })];
}

/** A whole task comes at a stream's beginning, where it says nothing new, or in place of all that led to its end. */
function taskFrames({ id, contextId, status, artifacts = [] }: Task): string[] {
  if (!isTerminal(status.state)) return [];
  return [
    ...artifacts.map((artifact) => frame("artifact", { ...writeArtifact(artifact), taskId: id })),
    ...statusFrames({ taskId: id, contextId, status }, false),
  ];
}

function statusFrames({ taskId, status }: TaskStatusUpdateEvent, endsAtQuestion: boolean): string[] {
  const { state, message } = status;
  const frames = message ? [frame("message", { ...writeMessage(message), taskId })] : [];
  const isEnd = isTerminal(state) || (endsAtQuestion && state === "TASK_STATE_INPUT_REQUIRED");
  return isEnd ? [...frames, endFrame(taskId, status)] : frames;
}

function endFrame(taskId: string, { state, message }: TaskStatus): string {
  const reached = writeState(state);
  if (reached.status !== "failed") return frame("done", { ...reached, taskId });
  const text = textOf(message?.parts ?? []) || "The task failed; the agent did not say why.";
  return frame("error", { ...reached, message: text, taskId });
}

/** The end of a stream that was cut: not the task's. */
export function writeFailure(error: A2AError): string {
  const { code, message } = toSimpleError(error);
  return frame("error", { code, message });
}

function frame(type: "message" | "artifact" | "done" | "error", data: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
