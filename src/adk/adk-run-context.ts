import type { Run } from "../engine/index.ts";
import { toAdkMetadataKey } from "./adk-event-metadata.ts";

/** Metadata key for the ids of other waiting tasks in the context of a task. */
export const WAITING_TASK_IDS_METADATA_KEY: "adk_waiting_task_ids" = toAdkMetadataKey("waiting_task_ids");

/** Context of an ADK run, with the task turn of the run. */
export interface AdkRunContext {
  readonly run: Pick<Run, "taskId" | "task" | "signal" | "listInterruptedTasks">;
  /**
   * Ids of the other waiting tasks in the context, or `undefined` if the turn reports no tasks.
   */
  waitingTaskIds: readonly string[] | undefined;
}

/** The abort signal and the session of an ADK invocation, which identify its run. */
interface InvocationContextLike {
  readonly session: object;
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * Run contexts by abort signal and by session object. ADK passes on the abort signal and the session object
 * within a run. Sub-agents use the abort signal and the session object of their parent agent. Workflow
 * nodes get a new abort signal, and agents used as tools get a new session object.
 */
const runContextsBySignalOrSession = new WeakMap<object, AdkRunContext>();

export function registerRunContext(run: Run): AdkRunContext {
  // An empty list clears the ids that an earlier turn stored in the task metadata.
  const runContext: AdkRunContext = {
    run,
    waitingTaskIds: run.task.metadata?.[WAITING_TASK_IDS_METADATA_KEY] ? [] : undefined,
  };
  runContextsBySignalOrSession.set(run.signal, runContext);
  return runContext;
}

export function findRunContextByInvocation({
  session,
  abortSignal,
}: InvocationContextLike): AdkRunContext | undefined {
  return (
    runContextsBySignalOrSession.get(session) ??
    (abortSignal && runContextsBySignalOrSession.get(abortSignal))
  );
}

/**
 * Registers the run of an invocation under the invocation's session and abort signal, and returns the run
 * context.
 */
export function registerRunContextForInvocation(
  invocation: InvocationContextLike,
): AdkRunContext | undefined {
  const runContext = findRunContextByInvocation(invocation);
  if (!runContext) return undefined;
  const { session, abortSignal } = invocation;
  runContextsBySignalOrSession.set(session, runContext);
  if (abortSignal && abortSignal !== runContext.run.signal)
    runContextsBySignalOrSession.set(abortSignal, runContext);
  return runContext;
}
