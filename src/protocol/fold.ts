import type { TaskArtifactUpdateEvent, TaskEvent } from "./event.ts";
import { isPlainText, type Message, type Part } from "./message.ts";
import { formatTaskState, type Artifact, type Task, type TaskState } from "./task.ts";

/** What an event wants to do: be born, grow the history, grow an artifact, or move to a state. */
export type Transition = "task" | "message" | "artifact" | TaskState;

/** An event that a task may not accept, and why. */
export interface EventRefusal {
  refusalReason: string;
}

type TransitionRow = Record<Transition, boolean>;

const SUBMITTED_TRANSITIONS: TransitionRow = {
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
// Once work has begun it cannot become unbegun; the same state again is a progress report and allowed.
const WORKING_TRANSITIONS: TransitionRow = { ...SUBMITTED_TRANSITIONS, TASK_STATE_SUBMITTED: false };
const TERMINAL_TRANSITIONS: TransitionRow = {
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

/** The table of legal moves: total, so that the compiler asks for a cell when a state or an event is added. */
export const TRANSITIONS: Record<TaskState, TransitionRow> = {
  TASK_STATE_SUBMITTED: SUBMITTED_TRANSITIONS,
  TASK_STATE_WORKING: WORKING_TRANSITIONS,
  TASK_STATE_INPUT_REQUIRED: WORKING_TRANSITIONS,
  TASK_STATE_AUTH_REQUIRED: WORKING_TRANSITIONS,
  TASK_STATE_COMPLETED: TERMINAL_TRANSITIONS,
  TASK_STATE_FAILED: TERMINAL_TRANSITIONS,
  TASK_STATE_CANCELED: TERMINAL_TRANSITIONS,
  TASK_STATE_REJECTED: TERMINAL_TRANSITIONS,
  TASK_STATE_UNSPECIFIED: WORKING_TRANSITIONS,
};

/** The move that an event asks for. */
export function getTransition(event: TaskEvent): Transition {
  if ("statusUpdate" in event) return event.statusUpdate.status.state;
  if ("artifactUpdate" in event) return "artifact";
  return "task" in event ? "task" : "message";
}

/** Why a task in `state` (undefined: not born yet) may not accept `event`; undefined when it may. */
export function findRefusal(state: TaskState | undefined, event: TaskEvent): EventRefusal | undefined {
  const move = getTransition(event);
  if (state === undefined) {
    return move === "task"
      ? undefined
      : { refusalReason: "the first event of a task must be the task itself" };
  }
  if (TRANSITIONS[state][move]) return undefined;
  if (move === "task") return { refusalReason: "the task exists already" };
  const what =
    move === "artifact" || move === "message" ? `no ${move}` : `no move to ${formatTaskState(move)}`;
  return { refusalReason: `a task that is ${formatTaskState(state)} accepts ${what}` };
}

export function isEventRefusal(result: Task | EventRefusal): result is EventRefusal {
  return "refusalReason" in result;
}

/**
 * Applies one event to a task: the only place where a task changes. The caller gives up `task`: its arrays are
 * extended in place, so that a chunk costs the same however long the task has become. Hand a task out with
 * `copyTask`. Events, parts and messages are never changed, only referred to.
 */
export function fold(task: Task | undefined, event: TaskEvent): Task | EventRefusal {
  const refusal = findRefusal(task?.status.state, event);
  if (refusal) return refusal;
  // Without a task refusalOf lets only a birth through.
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

/** A status message that is answered or superseded becomes part of the conversation, in its place. */
function addToHistory(task: Task, message: Message | undefined): void {
  if (message) (task.history ??= []).push(message);
}

function applyArtifactUpdate(task: Task, { artifact, append }: TaskArtifactUpdateEvent): void {
  const artifacts = (task.artifacts ??= []);
  // From the end, because the artifact that grows is nearly always the newest one.
  const at = artifacts.findLastIndex((known) => known.artifactId === artifact.artifactId);
  const known = artifacts[at];
  if (!known) artifacts.push(copyArtifact(artifact));
  else if (append) appendToArtifact(known, artifact);
  else artifacts[at] = copyArtifact(artifact);
}

function appendToArtifact(
  known: Artifact,
  { parts, name, description, metadata, extensions }: Artifact,
): void {
  for (const part of parts) appendPart(known.parts, part);
  if (name !== undefined) known.name = name;
  if (description !== undefined) known.description = description;
  if (metadata) known.metadata = { ...known.metadata, ...metadata };
  if (extensions) known.extensions = [...new Set([...(known.extensions ?? []), ...extensions])];
}

/** Adds a part, joining plain text to plain text: a reply of 8,000 tokens is one part, not 8,000. */
export function appendPart(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (last && isPlainText(last) && isPlainText(part))
    parts[parts.length - 1] = { text: last.text + part.text };
  else parts.push(part);
}

function copyArtifact(artifact: Artifact): Artifact {
  return { ...artifact, parts: artifact.parts.slice() };
}

/** A copy that later folds do not touch. Costs a pointer per part, message and artifact; no content is copied. */
export function copyTask(task: Task): Task {
  const copy = { ...task };
  if (task.artifacts) copy.artifacts = task.artifacts.map(copyArtifact);
  if (task.history) copy.history = task.history.slice();
  return copy;
}
