import type {
  Artifact,
  JsonObject,
  JsonValue,
  Message,
  Part,
  SendMessageResponse,
  Task,
  TaskState,
} from "../../protocol/index.ts";
import { extractSkillAndInputFromMessage } from "./decode-params.ts";

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
export function encodeTaskState(state: TaskState): {
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
export function encodeMessage({ role, parts, metadata }: Message): JsonObject {
  return {
    role: role === "ROLE_USER" ? "user" : "agent",
    parts: parts.map(encodePart),
    ...(metadata ? { metadata } : {}),
  };
}

/** Encodes an artifact. */
export function encodeArtifact({ artifactId, name, description, parts, metadata }: Artifact): JsonObject {
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
