import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { Artifact, Task, TaskState, TaskStatus } from "./task.ts";

/** A change of a task's status (A2A §4.2.1). */
export interface TaskStatusUpdateEvent {
  taskId: string;
  contextId: string;
  status: TaskStatus;
  metadata?: JsonObject;
}

/** A new artifact, or a chunk of an artifact (A2A §4.2.2). */
export interface TaskArtifactUpdateEvent {
  taskId: string;
  contextId: string;
  artifact: Artifact;
  /**
   * If true, the event adds its parts to the artifact with the same id. By default, the event replaces the
   * artifact with the same id.
   */
  append?: boolean;
  /** True if the event contains the last chunk of the artifact. */
  lastChunk?: boolean;
  metadata?: JsonObject;
}

/**
 * An event of a task, in the shape of a `StreamResponse` (A2A §3.2.3). In a task's log, a `task` event
 * creates the task and a `message` event adds a message to the task's history. In a response, a `message`
 * event is a reply without a task.
 */
export type TaskEvent =
  | { task: Task }
  | { message: Message }
  | { statusUpdate: TaskStatusUpdateEvent }
  | { artifactUpdate: TaskArtifactUpdateEvent };

/** One element of a response stream, in the wire format of A2A 1.0. */
export type StreamResponse = TaskEvent;

/** Returns the task id of an event, or `undefined` for a message. */
export function getEventTaskId(event: StreamResponse): string | undefined {
  if ("task" in event) return event.task.id;
  if ("statusUpdate" in event) return event.statusUpdate.taskId;
  return "artifactUpdate" in event ? event.artifactUpdate.taskId : undefined;
}

/** Returns the task state that an event reports, or `undefined` for a message and for an artifact. */
export function getEventTaskState(event: StreamResponse): TaskState | undefined {
  if ("task" in event) return event.task.status.state;
  return "statusUpdate" in event ? event.statusUpdate.status.state : undefined;
}
