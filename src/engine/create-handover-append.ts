import type { TaskState } from "../protocol/index.ts";
import type { LiveTask } from "./live-task.ts";
import type { LogAppend } from "./task-store.ts";

/**
 * Returns the append that ends the attempt at the persisted turn without an end of the turn. Every node can then
 * claim the task, and must do so at the time `wakeAt`, in milliseconds since 1970. Call the function only after all
 * events are committed.
 */
export function createHandoverAppend(liveTask: LiveTask, wakeAt: number | undefined): LogAppend | undefined {
  const turn = liveTask.storedTurn.findHandoverData(wakeAt);
  if (!turn) return undefined;
  const { scope, taskId, contextId, seq, state, statusTimestamp, lease } = liveTask;
  return {
    scope,
    taskId,
    contextId,
    expectedSeq: seq,
    events: [],
    status: { state: state as TaskState, timestamp: statusTimestamp },
    messages: [],
    turn,
    epoch: lease.epoch,
    releasesLease: true,
  };
}
