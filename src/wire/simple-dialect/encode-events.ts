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
  type EventTextEncoder,
} from "../../protocol/index.ts";
import { toSimpleError } from "./to-simple-error.ts";
import { encodeArtifact, encodeMessage, encodeTaskState } from "./encode.ts";

/**
 * Encodes a stream event as server-sent events of the simple dialect: The stream contains `message` and
 * `artifact` events, and ends with a `done` or `error` event. The data repeats the event name as `type`,
 * because some clients read only the data. If the simple dialect has no counterpart for an event, the
 * encoder writes only the event id. A client can resume the stream from the event id. If `endsAtQuestion`
 * is true, the stream ends when the agent requests input.
 */
export function encodeEventAsSseFrames(event: LogEvent, endsAtQuestion: boolean): string {
  const text = event.encodeWith(
    endsAtQuestion ? encodeEventForStreamEndingAtQuestion : encodeEventForStreamEndingAtTaskEnd,
  );
  // The id is in the last frame. A client that is cut off between two frames gets both again.
  return event.seq > 0 ? `${text.slice(0, -1)}id: ${event.seq}\n\n` : text;
}

const encodeEventForStreamEndingAtQuestion: EventTextEncoder = (event) =>
  encodeTaskEventFrames(event, true).join("");
const encodeEventForStreamEndingAtTaskEnd: EventTextEncoder = (event) =>
  encodeTaskEventFrames(event, false).join("");

function encodeTaskEventFrames(event: TaskEvent, endsAtQuestion: boolean): string[] {
  if ("message" in event)
    return [
      encodeTypedFrame("message", encodeMessage(event.message)),
      encodeTypedFrame("done", { status: "completed" }),
    ];
  if ("statusUpdate" in event) return encodeStatusFrames(event.statusUpdate, endsAtQuestion);
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
