import {
  type A2AError,
  isTerminal,
  getText,
  type JsonObject,
  type LogEvent,
  type Task,
  type TaskEvent,
  type TaskStatus,
  type TaskStatusUpdateEvent,
  type EventEncoder,
} from "../../protocol/index.ts";
import { toSimpleError } from "./simple-error.ts";
import { encodeArtifact, encodeMessage, encodeTaskState } from "./encode.ts";

/**
 * An event of a stream as the guide's server-sent events: `message`, `artifact` and, at the end, `done` or `error`. The
 * data says its `type` too, for readers that look at nothing else. An event that the guide has no word for is only its id,
 * from which a reader resumes. `endsAtQuestion`: the stream ends where the agent asks for input.
 */
export function encodeEventFrames(event: LogEvent, endsAtQuestion: boolean): string {
  const text = event.encodeWith(endsAtQuestion ? encodeUntilQuestion : encodeUntilEnd);
  // Within the last frame, so that a reader that was cut between two gets both again.
  return event.seq > 0 ? `${text.slice(0, -1)}id: ${event.seq}\n\n` : text;
}

const encodeUntilQuestion: EventEncoder = (event) => encodeFrames(event, true).join("");
const encodeUntilEnd: EventEncoder = (event) => encodeFrames(event, false).join("");

function encodeFrames(event: TaskEvent, endsAtQuestion: boolean): string[] {
  if ("message" in event)
    return [
      encodeTypedFrame("message", encodeMessage(event.message)),
      encodeTypedFrame("done", { status: "completed" }),
    ];
  if ("statusUpdate" in event) return encodeStatusFrames(event.statusUpdate, endsAtQuestion);
  if ("task" in event) return encodeTaskFrames(event.task);
  const { taskId, artifact, append, lastChunk } = event.artifactUpdate;
  const chunk = { ...(append ? { append } : {}), ...(lastChunk ? { lastChunk } : {}) };
  return [encodeTypedFrame("artifact", { ...encodeArtifact(artifact), ...chunk, taskId })];
}

/** A whole task comes at a stream's beginning, where it says nothing new, or in place of all that led to its end. */
function encodeTaskFrames({ id, contextId, status, artifacts = [] }: Task): string[] {
  if (!isTerminal(status.state)) return [];
  return [
    ...artifacts.map((artifact) => encodeTypedFrame("artifact", { ...encodeArtifact(artifact), taskId: id })),
    ...encodeStatusFrames({ taskId: id, contextId, status }, false),
  ];
}

function encodeStatusFrames({ taskId, status }: TaskStatusUpdateEvent, endsAtQuestion: boolean): string[] {
  const { state, message } = status;
  const frames = message ? [encodeTypedFrame("message", { ...encodeMessage(message), taskId })] : [];
  const isEnd = isTerminal(state) || (endsAtQuestion && state === "TASK_STATE_INPUT_REQUIRED");
  return isEnd ? [...frames, encodeEndFrame(taskId, status)] : frames;
}

function encodeEndFrame(taskId: string, { state, message }: TaskStatus): string {
  const reached = encodeTaskState(state);
  if (reached.status !== "failed") return encodeTypedFrame("done", { ...reached, taskId });
  const text = getText(message?.parts ?? []) || "The task failed; the agent did not say why.";
  return encodeTypedFrame("error", { ...reached, message: text, taskId });
}

/** The end of a stream that was cut: not the task's. */
export function encodeFailureFrame(error: A2AError): string {
  const { code, message } = toSimpleError(error);
  return encodeTypedFrame("error", { code, message });
}

function encodeTypedFrame(type: "message" | "artifact" | "done" | "error", data: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
