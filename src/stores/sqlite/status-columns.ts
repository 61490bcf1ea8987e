import type { TaskState } from "../../protocol/index.ts";

/** Numbers of states in the protocol buffers of A2A. A file contains these numbers, so they never change. */
const STATE_NUMBERS: Readonly<Record<TaskState, number>> = {
  TASK_STATE_UNSPECIFIED: 0,
  TASK_STATE_SUBMITTED: 1,
  TASK_STATE_WORKING: 2,
  TASK_STATE_COMPLETED: 3,
  TASK_STATE_FAILED: 4,
  TASK_STATE_CANCELED: 5,
  TASK_STATE_INPUT_REQUIRED: 6,
  TASK_STATE_REJECTED: 7,
  TASK_STATE_AUTH_REQUIRED: 8,
};

const STATES_BY_NUMBER: ReadonlyMap<number, TaskState> = new Map(
  Object.entries(STATE_NUMBERS).map(([state, number]) => [number, state as TaskState]),
);

/** Returns the value of the columns `state`. Numbers keep the entries of the indexes small. */
export function encodeState(state: TaskState): number {
  return STATE_NUMBERS[state];
}

export function decodeState(value: unknown): TaskState {
  return STATES_BY_NUMBER.get(value as number) ?? "TASK_STATE_UNSPECIFIED";
}

/** Returns the value of the column `timestamp` for a time in ISO 8601, in milliseconds since 1970. */
export function encodeTime(time: string): number {
  return Date.parse(time);
}

export function decodeTime(value: unknown): string {
  return new Date(value as number).toISOString();
}

/** The columns `state` and `timestamp` of a task. */
export interface StatusColumns {
  readonly state: number;
  readonly timestamp: number;
}

export function decodeStatus({ state, timestamp }: StatusColumns): { state: TaskState; timestamp: string } {
  return { state: decodeState(state), timestamp: decodeTime(timestamp) };
}
