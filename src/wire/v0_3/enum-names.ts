import type { Role, TaskState } from "../../protocol/index.ts";
import type { Role03, TaskState03 } from "./types.ts";

/** Role names in the JSON-RPC types of 0.3. */
export const ROLE_NAMES: Readonly<Record<Role, Role03>> = { ROLE_USER: "user", ROLE_AGENT: "agent" };

/** Task state names in the JSON-RPC types of 0.3. */
export const TASK_STATE_NAMES: Readonly<Record<TaskState, TaskState03>> = {
  TASK_STATE_SUBMITTED: "submitted",
  TASK_STATE_WORKING: "working",
  TASK_STATE_INPUT_REQUIRED: "input-required",
  TASK_STATE_COMPLETED: "completed",
  TASK_STATE_CANCELED: "canceled",
  TASK_STATE_FAILED: "failed",
  TASK_STATE_REJECTED: "rejected",
  TASK_STATE_AUTH_REQUIRED: "auth-required",
  TASK_STATE_UNSPECIFIED: "unknown",
};

/** Swaps the keys and values of an object. */
export function invertTable<K extends string, V extends string>(table: Readonly<Record<K, V>>): Record<V, K> {
  const entries = Object.entries(table) as [K, V][];
  return Object.fromEntries(entries.map(([key, value]) => [value, key])) as Record<V, K>;
}
