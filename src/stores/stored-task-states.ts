import { TASK_STATES, type TaskState } from "../protocol/index.ts";

/** All states that a stored task can have. */
export const STORED_TASK_STATES: readonly TaskState[] = [...TASK_STATES, "TASK_STATE_UNSPECIFIED"];
