import type { Run } from "../engine/index.ts";
import { metadataKey } from "./metadata.ts";

/** Which other tasks of its context waited for their user while a task went on. */
export const WAITING_TASK_IDS: "adk_waiting_task_ids" = metadataKey("waiting_task_ids");

/** What a run of ADK is for: a turn of a task. */
export interface Serving {
  readonly run: Pick<Run, "taskId" | "task" | "signal" | "waiting">;
  /** The other tasks of the context that wait for their user; undefined when there is nothing to be said. */
  waiting: readonly string[] | undefined;
}

/** A run of ADK, as far as it is known by: what ADK hands on to wherever the run goes. */
export interface RunOfAdk {
  readonly session: object;
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * By the signal and by the session object of the run. Plugins and sub-agents are given both, nodes of a workflow only the
 * session (their signal is one of their own), and agents that are tools only the signal (their session is).
 */
const servings = new WeakMap<object, Serving>();

export function beginServing(run: Run): Serving {
  // What an earlier turn has said of them is taken back, unless it is still so.
  const serving: Serving = { run, waiting: run.task.metadata?.[WAITING_TASK_IDS] ? [] : undefined };
  servings.set(run.signal, serving);
  return serving;
}

export function servingOf({ session, abortSignal }: RunOfAdk): Serving | undefined {
  return servings.get(session) ?? (abortSignal && servings.get(abortSignal));
}

/** From its beginning on, a run is known by its session object, too. */
export function nameSession(run: RunOfAdk): Serving | undefined {
  const serving = servingOf(run);
  if (serving) servings.set(run.session, serving);
  return serving;
}
