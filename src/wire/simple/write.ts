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
import { createdWith } from "./read.ts";

/** The guide's five states. */
export type SimpleStatus = "pending" | "running" | "completed" | "failed" | "cancelled";

const STATUS: Readonly<Record<TaskState, SimpleStatus>> = {
  TASK_STATE_SUBMITTED: "pending",
  TASK_STATE_WORKING: "running",
  // The guide has no word for a task that waits for its user: it runs, and `waitingFor` says what for.
  TASK_STATE_INPUT_REQUIRED: "running",
  TASK_STATE_AUTH_REQUIRED: "running",
  TASK_STATE_COMPLETED: "completed",
  TASK_STATE_FAILED: "failed",
  TASK_STATE_REJECTED: "failed",
  TASK_STATE_CANCELED: "cancelled",
  TASK_STATE_UNSPECIFIED: "running",
};

/** Where a task stands. */
export function writeState(state: TaskState): {
  status: SimpleStatus;
  waitingFor?: "input" | "authorization";
} {
  const status = STATUS[state];
  if (state === "TASK_STATE_INPUT_REQUIRED") return { status, waitingFor: "input" };
  return state === "TASK_STATE_AUTH_REQUIRED" ? { status, waitingFor: "authorization" } : { status };
}

/** `{ kind, … }`, flat: `text`, `data`, or a `file` or an `image` by `url` or as `bytes`. */
function writePart(part: Part): JsonObject {
  const { filename, mediaType, metadata } = part;
  return {
    ...contentOf(part),
    ...(filename === undefined ? {} : { name: filename }),
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
    ...(metadata ? { metadata } : {}),
  };
}

function contentOf(part: Part): JsonObject {
  if ("text" in part) return { kind: "text", text: part.text };
  if ("data" in part) return { kind: "data", data: part.data };
  const kind = part.mediaType?.startsWith("image/") ? "image" : "file";
  return "url" in part ? { kind, url: part.url } : { kind, bytes: part.raw };
}

export function writeMessage({ role, parts, metadata }: Message): JsonObject {
  return {
    role: role === "ROLE_USER" ? "user" : "agent",
    parts: parts.map(writePart),
    ...(metadata ? { metadata } : {}),
  };
}

export function writeArtifact({ artifactId, name, description, parts, metadata }: Artifact): JsonObject {
  return {
    artifactId,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    parts: parts.map(writePart),
    ...(metadata ? { metadata } : {}),
  };
}

/** What `tasks/get` answers. */
export function writeTask(task: Task, agentId: string): JsonObject {
  const { status, artifacts = [] } = task;
  return {
    ...headOf(task, agentId),
    ...writeState(status.state),
    ...(status.message ? { message: writeMessage(status.message) } : {}),
    artifacts: artifacts.map(writeArtifact),
    ...timesOf(task),
  };
}

/** What `tasks/create` answers: the task as it was created, however far the agent has come meanwhile. */
export function writeCreated(task: Task, agentId: string): JsonObject {
  const { createdAt } = timesOf(task);
  return {
    ...headOf(task, agentId),
    status: "pending" satisfies SimpleStatus,
    ...(createdAt === undefined ? {} : { createdAt, updatedAt: createdAt }),
  };
}

/** What `message/send` answers: the task once it stops, or the message of an agent that answers without one. */
export function writeSent(response: SendMessageResponse, agentId: string): JsonObject {
  if ("task" in response) return writeTask(response.task, agentId);
  const { message } = response;
  return { ...writeMessage(message), messageId: message.messageId, ...threadOf(message) };
}

function headOf(task: Task, agentId: string): JsonObject {
  return { taskId: task.id, agentId, ...threadOf(task), ...createdWith(task.history?.[0]) };
}

function threadOf({ contextId }: { contextId?: string }): { thread?: JsonValue } {
  return contextId === undefined ? {} : { thread: { threadId: contextId } };
}

function timesOf({ id, status }: Task): { createdAt?: string; updatedAt?: string } {
  const createdAt = timeOf(id);
  const updatedAt = status.timestamp;
  return {
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
  };
}

/** A UUID of version 7, as the engine's ids are, begins with the milliseconds in which it was made (RFC 9562 §5.7). */
function timeOf(id: string): string | undefined {
  const [, high = "", low = ""] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/i.exec(id) ?? [];
  return high === "" ? undefined : new Date(Number.parseInt(high + low, 16)).toISOString();
}
