import type { Run } from "../engine/index.ts";
import { toAdkMetadataKey } from "./metadata.ts";

/** Which other tasks of its context waited for their user while a task went on. */
export const WAITING_TASK_IDS_KEY: "adk_waiting_task_ids" = toAdkMetadataKey("waiting_task_ids");

/** What a run of ADK is for: a turn of a task. */
export interface AdkRunContext {
  readonly run: Pick<Run, "taskId" | "task" | "signal" | "listInterruptedTasks">;
  /** The other tasks of the context that wait for their user; undefined when there is nothing to be said. */
  waitingTaskIds: readonly string[] | undefined;
}

/** A place in a run of ADK, as far as the run is known by it. */
export interface InvocationContextLike {
  readonly session: object;
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * By signals and session objects: what ADK hands on to wherever a run goes. Sub-agents are given both, nodes of a workflow
 * a signal of their own, and agents that are tools a session of their own.
 */
const runContexts = new WeakMap<object, AdkRunContext>();

export function registerRunContext(run: Run): AdkRunContext {
  // What an earlier turn has said of them is taken back, unless it is still so.
  const serving: AdkRunContext = {
    run,
    waitingTaskIds: run.task.metadata?.[WAITING_TASK_IDS_KEY] ? [] : undefined,
  };
  runContexts.set(run.signal, serving);
  return serving;
}

export function findRunContext({ session, abortSignal }: InvocationContextLike): AdkRunContext | undefined {
  return runContexts.get(session) ?? (abortSignal && runContexts.get(abortSignal));
}

/** From here on the run is known by all that there is at this place. */
export function propagateRunContext(place: InvocationContextLike): AdkRunContext | undefined {
  const serving = findRunContext(place);
  if (serving) runContexts.set(place.session, serving);
  if (serving && place.abortSignal) runContexts.set(place.abortSignal, serving);
  return serving;
}
