import type { TaskArtifactUpdateEvent, TaskEvent } from "./event.ts";
import { isPlainTextPart, type Message, type Part } from "./message.ts";
import { formatTaskState, type Artifact, type Task, type TaskState } from "./task.ts";

/**
 * The effect of an event on a task. For example, the first event creates the task, and later events add a
 * message or change the task's state.
 */
export type EventTransitionKind = "task" | "message" | "artifact" | TaskState;

/** The reason why a task cannot accept an event. */
export interface EventRefusal {
  refusalReason: string;
}

type AllowedTransitions = Record<EventTransitionKind, boolean>;

const TRANSITIONS_FROM_SUBMITTED: AllowedTransitions = {
  task: false,
  message: true,
  artifact: true,
  TASK_STATE_SUBMITTED: true,
  TASK_STATE_WORKING: true,
  TASK_STATE_INPUT_REQUIRED: true,
  TASK_STATE_AUTH_REQUIRED: true,
  TASK_STATE_COMPLETED: true,
  TASK_STATE_FAILED: true,
  TASK_STATE_CANCELED: true,
  TASK_STATE_REJECTED: true,
  TASK_STATE_UNSPECIFIED: true,
};
// A task cannot return to SUBMITTED once work has begun. Repeating the current state is a progress report and
// allowed.
const TRANSITIONS_FROM_WORKING: AllowedTransitions = {
  ...TRANSITIONS_FROM_SUBMITTED,
  TASK_STATE_SUBMITTED: false,
};
const TRANSITIONS_FROM_TERMINAL_STATE: AllowedTransitions = {
  task: false,
  message: false,
  artifact: false,
  TASK_STATE_SUBMITTED: false,
  TASK_STATE_WORKING: false,
  TASK_STATE_INPUT_REQUIRED: false,
  TASK_STATE_AUTH_REQUIRED: false,
  TASK_STATE_COMPLETED: false,
  TASK_STATE_FAILED: false,
  TASK_STATE_CANCELED: false,
  TASK_STATE_REJECTED: false,
  TASK_STATE_UNSPECIFIED: false,
};

/**
 * Allowed transitions by task state. Compilation fails if the table omits a state or a transition.
 */
export const ALLOWED_TRANSITIONS_BY_TASK_STATE: Record<TaskState, AllowedTransitions> = {
  TASK_STATE_SUBMITTED: TRANSITIONS_FROM_SUBMITTED,
  TASK_STATE_WORKING: TRANSITIONS_FROM_WORKING,
  TASK_STATE_INPUT_REQUIRED: TRANSITIONS_FROM_WORKING,
  TASK_STATE_AUTH_REQUIRED: TRANSITIONS_FROM_WORKING,
  TASK_STATE_COMPLETED: TRANSITIONS_FROM_TERMINAL_STATE,
  TASK_STATE_FAILED: TRANSITIONS_FROM_TERMINAL_STATE,
  TASK_STATE_CANCELED: TRANSITIONS_FROM_TERMINAL_STATE,
  TASK_STATE_REJECTED: TRANSITIONS_FROM_TERMINAL_STATE,
  TASK_STATE_UNSPECIFIED: TRANSITIONS_FROM_WORKING,
};

/** Returns the transition that an event requests. */
function getEventTransitionKind(event: TaskEvent): EventTransitionKind {
  if ("statusUpdate" in event) return event.statusUpdate.status.state;
  if ("artifactUpdate" in event) return "artifact";
  return "task" in event ? "task" : "message";
}

/**
 * Returns the reason why a task in `state` cannot accept `event`, or `undefined` if the task can accept
 * `event`. A `state` of `undefined` means that the task does not exist yet.
 */
export function findEventRefusal(state: TaskState | undefined, event: TaskEvent): EventRefusal | undefined {
  const transition = getEventTransitionKind(event);
  if (state === undefined) {
    return transition === "task"
      ? undefined
      : { refusalReason: "the first event of a task must be the task itself" };
  }
  if (ALLOWED_TRANSITIONS_BY_TASK_STATE[state][transition]) return undefined;
  if (transition === "task") return { refusalReason: "the task exists already" };
  const refused =
    transition === "artifact" || transition === "message"
      ? `no ${transition}`
      : `no transition to ${formatTaskState(transition)}`;
  return { refusalReason: `a task that is ${formatTaskState(state)} accepts ${refused}` };
}

export function isEventRefusal(result: Task | EventRefusal): result is EventRefusal {
  return "refusalReason" in result;
}

/**
 * Applies one event to a task and returns the changed task, or the reason why the task cannot accept the
 * event. `fold` is the only function that changes a task. `fold` extends the history and the newest artifact
 * of `task` in place, so the cost of a chunk does not depend on the task's length. `fold` replaces an older
 * artifact by a changed copy. Callers must not share `task` with other code. Callers can share a snapshot
 * from `copyTask`. `fold` stores references to the parts and messages of events and never modifies the events.
 */
export function fold(task: Task | undefined, event: TaskEvent): Task | EventRefusal {
  const refusal = findEventRefusal(task?.status.state, event);
  if (refusal) return refusal;
  // When `task` is undefined, `findEventRefusal` accepts only the creation of a task.
  if ("task" in event || !task) return copyTask((event as { task: Task }).task);
  if ("artifactUpdate" in event) applyArtifactUpdate(task, event.artifactUpdate);
  else if ("message" in event) {
    const { message, ...status } = task.status;
    addToHistory(task, message);
    addToHistory(task, event.message);
    task.status = status;
  } else {
    addToHistory(task, task.status.message);
    task.status = event.statusUpdate.status;
    if (event.statusUpdate.metadata) task.metadata = { ...task.metadata, ...event.statusUpdate.metadata };
  }
  return task;
}

/** Moves a status message into the history when an answer or a newer status replaces the message. */
function addToHistory(task: Task, message: Message | undefined): void {
  if (message) (task.history ??= []).push(message);
}

function applyArtifactUpdate(task: Task, update: TaskArtifactUpdateEvent): void {
  const { artifactId } = update.artifact;
  const artifacts = (task.artifacts ??= []);
  // Search from the end, because the growing artifact is nearly always the newest one.
  const at = artifacts.findLastIndex((known) => known.artifactId === artifactId);
  const known = artifacts[at];
  if (!known) artifacts.push(copyArtifact(update.artifact));
  // Copies of the task share all artifacts except the newest one.
  else artifacts[at] = foldArtifact(at === artifacts.length - 1 ? known : copyArtifact(known), update);
}

/**
 * Applies one update to an artifact and returns the changed artifact. `foldArtifact` extends `known` in place
 * if the update appends. `known` is `undefined` before the first update.
 */
export function foldArtifact(
  known: Artifact | undefined,
  { artifact, append }: TaskArtifactUpdateEvent,
): Artifact {
  if (!known || !append) return copyArtifact(artifact);
  appendToArtifact(known, artifact);
  return known;
}

function appendToArtifact(
  known: Artifact,
  { parts, name, description, metadata, extensions }: Artifact,
): void {
  for (const part of parts) appendPartJoiningText(known.parts, part);
  if (name !== undefined) known.name = name;
  if (description !== undefined) known.description = description;
  if (metadata) known.metadata = { ...known.metadata, ...metadata };
  if (extensions) known.extensions = [...new Set([...(known.extensions ?? []), ...extensions])];
}

/**
 * Appends a part to `parts` and joins adjacent plain text parts. A reply of 8,000 tokens thus becomes one
 * part.
 */
export function appendPartJoiningText(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (last && isPlainTextPart(last) && isPlainTextPart(part))
    parts[parts.length - 1] = { text: last.text + part.text };
  else parts.push(part);
}

function copyArtifact(artifact: Artifact): Artifact {
  return { ...artifact, parts: artifact.parts.slice() };
}

/**
 * Returns a copy of a task. Later calls of `fold` on the original task do not change the copy. The copy
 * shares all content with the task, and duplicates only the list of messages, the list of artifacts, and the
 * newest artifact. `fold` changes no other artifact in place.
 */
export function copyTask(task: Task): Task {
  const copy = { ...task };
  if (task.artifacts) {
    copy.artifacts = task.artifacts.slice();
    const newest = copy.artifacts.pop();
    if (newest) copy.artifacts.push(copyArtifact(newest));
  }
  if (task.history) copy.history = task.history.slice();
  return copy;
}
