import {
  type A2AError,
  isInterrupted,
  isTerminal,
  getText,
  type JsonObject,
  type LogEvent,
  type Task,
  type TaskEvent,
  type TaskStatus,
  type TaskStatusUpdateEvent,
  type EventTextEncoder,
} from "../../protocol/index.ts";
import { toSimpleError } from "./to-simple-error.ts";
import { encodeArtifact, encodeMessage, encodeTaskState } from "./encode.ts";

/**
 * Encodes a stream event as server-sent events of the simple dialect: The stream contains `message` and
 * `artifact` events, and ends with a `done` or `error` event. The data repeats the event name as `type`,
 * because some clients read only the data. If the simple dialect has no counterpart for an event, the
 * encoder writes only the event id. A client can resume the stream from the event id.
 */
export function encodeEventAsSseFrames(event: LogEvent): string {
  return addEventId(event.encodeWith(encodeTaskEventFrames), event);
}

/**
 * Encodes the `done` event for a stream that ends because the task waits for its user. A stream that continues
 * after a request for input has no `done` event for the request.
 */
export function encodeEndOfInterruptedTask(lastEvent: LogEvent): string {
  const { event } = lastEvent;
  if (!("statusUpdate" in event)) return "";
  const { taskId, status } = event.statusUpdate;
  return isInterrupted(status.state) ? addEventId(encodeEndFrame(taskId, status), lastEvent) : "";
}

/** The id is in the last frame of an event. A client that is cut off between two frames gets both again. */
function addEventId(frames: string, { seq }: LogEvent): string {
  return seq > 0 ? `${frames.slice(0, -1)}id: ${seq}\n\n` : frames;
}

const encodeTaskEventFrames: EventTextEncoder = (event) => encodeFrames(event).join("");

function encodeFrames(event: TaskEvent): string[] {
  if ("message" in event)
    return [
      encodeTypedFrame("message", encodeMessage(event.message)),
      encodeTypedFrame("done", { status: "completed" }),
    ];
  if ("statusUpdate" in event) return encodeStatusFrames(event.statusUpdate);
  if ("task" in event) return encodeFramesIfTaskIsTerminal(event.task);
  const { taskId, artifact, append, lastChunk } = event.artifactUpdate;
  const chunkMembers = { ...(append ? { append } : {}), ...(lastChunk ? { lastChunk } : {}) };
  return [encodeTypedFrame("artifact", { ...encodeArtifact(artifact), ...chunkMembers, taskId })];
}

/**
 * Encodes a task event of a stream. The task event at the start of a stream is omitted if the task is not
 * terminal, because the event contains no new information. A terminal task event replaces all earlier
 * events of the stream.
 */
function encodeFramesIfTaskIsTerminal({ id, contextId, status, artifacts = [] }: Task): string[] {
  if (!isTerminal(status.state)) return [];
  return [
    ...artifacts.map((artifact) => encodeTypedFrame("artifact", { ...encodeArtifact(artifact), taskId: id })),
    ...encodeStatusFrames({ taskId: id, contextId, status }),
  ];
}

function encodeStatusFrames({ taskId, status }: TaskStatusUpdateEvent): string[] {
  const { state, message } = status;
  const frames = message ? [encodeTypedFrame("message", { ...encodeMessage(message), taskId })] : [];
  return isTerminal(state) ? [...frames, encodeEndFrame(taskId, status)] : frames;
}

function encodeEndFrame(taskId: string, { state, message }: TaskStatus): string {
  const stateMembers = encodeTaskState(state);
  if (stateMembers.status !== "failed") return encodeTypedFrame("done", { ...stateMembers, taskId });
  const text = getText(message?.parts ?? []) || "The task failed; the agent gave no reason.";
  return encodeTypedFrame("error", { ...stateMembers, message: text, taskId });
}

/** Encodes the error at the end of a failed stream. The task may continue after the stream has failed. */
export function encodeFailureFrame(error: A2AError): string {
  const { code, message } = toSimpleError(error);
  return encodeTypedFrame("error", { code, message });
}

function encodeTypedFrame(type: "message" | "artifact" | "done" | "error", data: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
