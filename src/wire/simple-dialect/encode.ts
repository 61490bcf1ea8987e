import {
  type Artifact,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type SendMessageResponse,
  type Task,
  type TaskState,
  type A2AError,
  isInterrupted,
  isTerminal,
  getText,
  type LogEvent,
  type TaskEvent,
  type TaskStatus,
  type TaskStatusUpdateEvent,
  type EventTextEncoder,
} from "../../protocol/index.ts";
import { extractSkillAndInputFromMessage } from "./decode-params.ts";
import { toJsonRpcError, type JsonRpcError } from "../json-rpc.ts";

/** Task states of the simple dialect. */
type SimpleTaskStatus = "pending" | "running" | "completed" | "failed" | "cancelled";

const SIMPLE_STATUS_BY_TASK_STATE: Readonly<Record<TaskState, SimpleTaskStatus>> = {
  TASK_STATE_SUBMITTED: "pending",
  TASK_STATE_WORKING: "running",
  // The dialect has no state for a task that waits for its user. The task is "running", and `waitingFor`
  // names the reason.
  TASK_STATE_INPUT_REQUIRED: "running",
  TASK_STATE_AUTH_REQUIRED: "running",
  TASK_STATE_COMPLETED: "completed",
  TASK_STATE_FAILED: "failed",
  TASK_STATE_REJECTED: "failed",
  TASK_STATE_CANCELED: "cancelled",
  TASK_STATE_UNSPECIFIED: "running",
};

/** Encodes a task state and, if the task is interrupted, the input that the task waits for. */
function encodeTaskState(state: TaskState): {
  status: SimpleTaskStatus;
  waitingFor?: "input" | "authorization";
} {
  const status = SIMPLE_STATUS_BY_TASK_STATE[state];
  if (state === "TASK_STATE_INPUT_REQUIRED") return { status, waitingFor: "input" };
  return state === "TASK_STATE_AUTH_REQUIRED" ? { status, waitingFor: "authorization" } : { status };
}

/**
 * Encodes a part as a flat object with a `kind`: The kind is `text`, `data`, `file`, or `image`, and files
 * and images have a `url` or `bytes`.
 */
function encodePart(part: Part): JsonObject {
  const { filename, mediaType, metadata } = part;
  return {
    ...encodePartContent(part),
    ...(filename === undefined ? {} : { name: filename }),
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
    ...(metadata ? { metadata } : {}),
  };
}

function encodePartContent(part: Part): JsonObject {
  if ("text" in part) return { kind: "text", text: part.text };
  if ("data" in part) return { kind: "data", data: part.data };
  const kind = part.mediaType?.startsWith("image/") ? "image" : "file";
  return "url" in part ? { kind, url: part.url } : { kind, bytes: part.raw };
}

/** Encodes a message without its message id. */
function encodeMessage({ role, parts, metadata }: Message): JsonObject {
  return {
    role: role === "ROLE_USER" ? "user" : "agent",
    parts: parts.map(encodePart),
    ...(metadata ? { metadata } : {}),
  };
}

/** Encodes an artifact. */
function encodeArtifact({ artifactId, name, description, parts, metadata }: Artifact): JsonObject {
  return {
    artifactId,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    parts: parts.map(encodePart),
    ...(metadata ? { metadata } : {}),
  };
}

/** Encodes the result of `tasks/get`. */
export function encodeTask(task: Task, agentId: string): JsonObject {
  const { status, artifacts = [] } = task;
  return {
    ...encodeTaskIdsSkillAndInput(task, agentId),
    ...encodeTaskState(status.state),
    ...(status.message ? { message: encodeMessage(status.message) } : {}),
    artifacts: artifacts.map(encodeArtifact),
    ...computeCreatedAndUpdatedTimes(task),
  };
}

/**
 * Encodes the result of `tasks/create`. The encoded status is always `pending`, even if the agent has
 * already made progress.
 */
export function encodeCreatedTask(task: Task, agentId: string): JsonObject {
  const { createdAt } = computeCreatedAndUpdatedTimes(task);
  return {
    ...encodeTaskIdsSkillAndInput(task, agentId),
    status: "pending" satisfies SimpleTaskStatus,
    ...(createdAt === undefined ? {} : { createdAt, updatedAt: createdAt }),
  };
}

/**
 * Encodes the result of `message/send`. The result is a message if the agent replies without a task,
 * otherwise a task.
 */
export function encodeSendResponse(response: SendMessageResponse, agentId: string): JsonObject {
  if ("task" in response) return encodeTask(response.task, agentId);
  const { message } = response;
  return { ...encodeMessage(message), messageId: message.messageId, ...encodeContextIdAsThread(message) };
}

function encodeTaskIdsSkillAndInput(task: Task, agentId: string): JsonObject {
  return {
    taskId: task.id,
    agentId,
    ...encodeContextIdAsThread(task),
    ...extractSkillAndInputFromMessage(task.history?.[0]),
  };
}

function encodeContextIdAsThread({ contextId }: { contextId?: string }): { thread?: JsonValue } {
  return contextId === undefined ? {} : { thread: { threadId: contextId } };
}

function computeCreatedAndUpdatedTimes({ id, status }: Task): { createdAt?: string; updatedAt?: string } {
  const createdAt = parseUuidV7Time(id);
  const updatedAt = status.timestamp;
  return {
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
  };
}

/**
 * Returns the creation time in a version 7 UUID. The first 48 bits of the UUID are a Unix time in
 * milliseconds (RFC 9562 §5.7). The engine creates task ids that are version 7 UUIDs.
 */
function parseUuidV7Time(id: string): string | undefined {
  const [, high = "", low = ""] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/i.exec(id) ?? [];
  return high === "" ? undefined : new Date(Number.parseInt(high + low, 16)).toISOString();
}

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

/**
 * Converts an error to a JSON-RPC error of the simple dialect. The simple dialect uses the error codes of
 * JSON-RPC and A2A, with one exception. If a task is not found, the code is -32004, as in the server of the
 * guide to A2A. A2A uses the code -32004 for unsupported operations, so `data` contains the error reason.
 */
export function toSimpleError(error: A2AError): JsonRpcError {
  const jsonRpcError = toJsonRpcError(error);
  return error.reason === "TASK_NOT_FOUND" ? { ...jsonRpcError, code: -32004 } : jsonRpcError;
}
