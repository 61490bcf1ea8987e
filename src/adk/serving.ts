import type { Run } from "../engine/index.ts";
import { metadataKey } from "./metadata.ts";

/** Which other tasks of its context waited for their user while a task went on. */
export const WAITING_TASK_IDS: "adk_waiting_task_ids" = metadataKey("waiting_task_ids");

/** What a run of ADK is for: a turn of a task. */
export interface Serving {
  readonly run: Pick<Run, "taskId" | "task" | "waiting">;
  /** The other tasks of the context that wait for their user; undefined when there is nothing to be said. */
  waiting: readonly string[] | undefined;
}

/**
 * By the signal that can abort it. That is all of ours that ADK hands on to wherever a run goes: to its plugins, to its
 * sub-agents, and to the agents that are its tools, which run in sessions of their own.
 */
const servings = new WeakMap<AbortSignal, Serving>();

export function beginServing(run: Run): Serving {
  // What an earlier turn has said of them is taken back, unless it is still so.
  const serving: Serving = { run, waiting: run.task.metadata?.[WAITING_TASK_IDS] ? [] : undefined };
  servings.set(run.signal, serving);
  return serving;
}

export function servingOf(signal: AbortSignal | undefined): Serving | undefined {
  return signal && servings.get(signal);
}
