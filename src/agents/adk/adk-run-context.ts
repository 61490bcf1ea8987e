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

/** Undefined after the end of the run. */
interface RunContextSlot {
  context: AdkRunContext | undefined;
}

/**
 * Run contexts by abort signal and by session object. ADK passes an agent's abort signal and session object
 * to its sub-agents. Workflow nodes get a new abort signal, and agents used as tools get a new session
 * object.
 *
 * All signals and sessions of a run share one slot, which the end of the run empties. ADK creates generator functions in
 * each run. V8 keeps what such a function references until the next full garbage collection: the invocation context with
 * its signal and its session, and through them the turn and its task.
 */
const slotsBySignalOrSession = new HiddenProperty<RunContextSlot>();

export function registerRunContext(run: Run): AdkRunContext {
  // An empty list clears the ids that an earlier turn stored in the task metadata.
  const runContext: AdkRunContext = {
    run,
    waitingTaskIds: run.task.metadata?.[WAITING_TASK_IDS_METADATA_KEY] ? [] : undefined,
  };
  slotsBySignalOrSession.set(run.signal, { context: runContext });
  return runContext;
}

/** Releases the context of a run whose work has ended. */
export function releaseRunContext({ signal }: Pick<Run, "signal">): void {
  const slot = slotsBySignalOrSession.get(signal);
  if (slot) slot.context = undefined;
}

export function findRunContextBySignal(signal: AbortSignal | undefined): AdkRunContext | undefined {
  return signal && slotsBySignalOrSession.get(signal)?.context;
}

export function findRunContextByInvocation(invocation: InvocationContextLike): AdkRunContext | undefined {
  return findSlot(invocation)?.context;
}

/** Returns true if Colloquy has run the invocation, and the run has ended. */
export function hasRunEnded(invocation: InvocationContextLike): boolean {
  const slot = findSlot(invocation);
  return slot !== undefined && slot.context === undefined;
}

/** A session service can return the session object of an earlier run. */
function findSlot({ session, abortSignal }: InvocationContextLike): RunContextSlot | undefined {
  const slot = slotsBySignalOrSession.get(session);
  return slot?.context ? slot : ((abortSignal && slotsBySignalOrSession.get(abortSignal)) ?? slot);
}

/** Finds the run context of an invocation, registers it by session and abort signal, and returns it. */
export function registerRunContextForInvocation(
  invocation: InvocationContextLike,
): AdkRunContext | undefined {
  const slot = findSlot(invocation);
  if (!slot) return undefined;
  const { session, abortSignal } = invocation;
  slotsBySignalOrSession.set(session, slot);
  if (abortSignal && abortSignal !== slot.context?.run.signal) slotsBySignalOrSession.set(abortSignal, slot);
  return slot.context;
}
