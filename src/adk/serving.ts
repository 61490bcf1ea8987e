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

/** A place in a run of ADK, as far as the run is known by it. */
export interface PlaceInRun {
  readonly session: object;
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * By signals and session objects: what ADK hands on to wherever a run goes. Sub-agents are given both, nodes of a workflow
 * a signal of their own, and agents that are tools a session of their own.
 */
const servings = new WeakMap<object, Serving>();

export function beginServing(run: Run): Serving {
  // What an earlier turn has said of them is taken back, unless it is still so.
  const serving: Serving = { run, waiting: run.task.metadata?.[WAITING_TASK_IDS] ? [] : undefined };
  servings.set(run.signal, serving);
  return serving;
}

export function servingOf({ session, abortSignal }: PlaceInRun): Serving | undefined {
  return servings.get(session) ?? (abortSignal && servings.get(abortSignal));
}

/** From here on the run is known by all that there is at this place. */
export function makeKnown(place: PlaceInRun): Serving | undefined {
  const serving = servingOf(place);
  if (serving) servings.set(place.session, serving);
  if (serving && place.abortSignal) servings.set(place.abortSignal, serving);
  return serving;
}
