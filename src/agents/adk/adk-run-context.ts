import type { Run } from "../../engine/index.ts";
import { HiddenProperty } from "../../base/data-structures/index.ts";
import { toAdkMetadataKey } from "./adk-event-metadata.ts";

/** Metadata key for the ids of other waiting tasks in the same A2A context. */
export const WAITING_TASK_IDS_METADATA_KEY: "adk_waiting_task_ids" = toAdkMetadataKey("waiting_task_ids");

/** Context of an ADK run: the task turn that the run executes, and the other waiting tasks. */
export interface AdkRunContext {
  readonly run: Pick<
    Run,
    | "taskId"
    | "task"
    | "attempt"
    | "signal"
    | "traceHeaders"
    | "listInterruptedTasks"
    | "idempotencyKey"
    | "once"
    | "sleep"
    | "reportCall"
    | "suspend"
  >;
  /** Ids of the other waiting tasks in the A2A context, or `undefined` if there is nothing to report. */
  waitingTaskIds: readonly string[] | undefined;
}

/** The abort signal and the session of an ADK invocation, which identify its run. */
interface InvocationContextLike {
  readonly session: object;
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * Run contexts by abort signal and by session object. ADK passes an agent's abort signal and session object
 * to its sub-agents. Workflow nodes get a new abort signal, and agents used as tools get a new session
 * object.
 */
const runContextsBySignalOrSession = new HiddenProperty<AdkRunContext>();

export function registerRunContext(run: Run): AdkRunContext {
  // An empty list clears the ids that an earlier turn stored in the task metadata.
  const runContext: AdkRunContext = {
    run,
    waitingTaskIds: run.task.metadata?.[WAITING_TASK_IDS_METADATA_KEY] ? [] : undefined,
  };
  runContextsBySignalOrSession.set(run.signal, runContext);
  return runContext;
}

export function findRunContextBySignal(signal: AbortSignal | undefined): AdkRunContext | undefined {
  return signal && runContextsBySignalOrSession.get(signal);
}

export function findRunContextByInvocation({
  session,
  abortSignal,
}: InvocationContextLike): AdkRunContext | undefined {
  return runContextsBySignalOrSession.get(session) ?? findRunContextBySignal(abortSignal);
}

/** Finds the run context of an invocation, registers it by session and abort signal, and returns it. */
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
