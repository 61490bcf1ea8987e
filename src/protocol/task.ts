import type { JsonObject } from "./json.ts";
import type { Message, Part } from "./message.ts";

/** Every task state that Colloquy uses (A2A §4.1.3). */
export const TASK_STATES = [
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_AUTH_REQUIRED",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_REJECTED",
] as const;

/**
 * State of a task (A2A §4.1.3). Tasks of other agents can also be in `TASK_STATE_UNSPECIFIED`, which is
 * neither terminal nor interrupted. Colloquy never sends `TASK_STATE_UNSPECIFIED`.
 */
export type TaskState = (typeof TASK_STATES)[number] | "TASK_STATE_UNSPECIFIED";

/** States that end a task. A task in a terminal state never changes again. */
type TerminalState =
  | "TASK_STATE_COMPLETED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELED"
  | "TASK_STATE_REJECTED";

export interface TaskStatus {
  state: TaskState;
  message?: Message;
  /** Time of the status as ISO 8601 UTC with milliseconds. Within a task, the status time never decreases. */
  timestamp?: string;
}

/** An output of a task (A2A §4.1.7). */
export interface Artifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part[];
  metadata?: JsonObject;
  extensions?: string[];
}

/** A unit of work with a state, a message history, and artifacts (A2A §4.1.1). */
export interface Task {
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: JsonObject;
}

/** Returns true for the states COMPLETED, FAILED, CANCELED, and REJECTED. */
export function isTerminal(state: TaskState): state is TerminalState {
  return (
    state === "TASK_STATE_COMPLETED" ||
    state === "TASK_STATE_FAILED" ||
    state === "TASK_STATE_CANCELED" ||
    state === "TASK_STATE_REJECTED"
  );
}

/** Returns true for INPUT_REQUIRED and AUTH_REQUIRED, the states of a task that waits for its user. */
export function isInterrupted(state: TaskState): boolean {
  return state === "TASK_STATE_INPUT_REQUIRED" || state === "TASK_STATE_AUTH_REQUIRED";
}

/** Formats a task state for display, for example `TASK_STATE_INPUT_REQUIRED` as `input-required`. */
export function formatTaskState(state: TaskState): string {
  return state.slice("TASK_STATE_".length).toLowerCase().replaceAll("_", "-");
}
