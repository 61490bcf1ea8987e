import type { LiveTask } from "./live-task.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import { toTurnRestartData } from "./turn-restart-data.ts";
import type { Turn } from "./turn.ts";

/**
 * Time in milliseconds after which a suspended attempt ends. Meanwhile, the node receives the requests that have started
 * the attempt.
 */
const SUSPENDED_ATTEMPT_MS = 1000;

/**
 * Suspends a persisted turn, whose agent waits until `wakeAt`, in milliseconds since 1970. If only this process can open
 * the store, the turn no longer counts as a running agent. If several nodes share the store, `endAttempt` is called, so
 * that any node can continue the turn. Returns a function that ends the suspension.
 */
export function suspendTurn(
  turn: Turn,
  wakeAt: number,
  liveTask: LiveTask,
  { clock, isShared }: Pick<TurnDependencies, "clock" | "isShared">,
  endAttempt: () => void,
): () => void {
  if (!turn.startPoint || wakeAt - clock.now() <= SUSPENDED_ATTEMPT_MS) return () => {};
  turn.wakeAt = wakeAt;
  const cancelTimer = isShared ? clock.schedule(SUSPENDED_ATTEMPT_MS, endAttempt) : (): void => {};
  if (!isShared) {
    turn.endAdmission();
    const restartData = toTurnRestartData(turn, turn.startPoint.seq);
    // The end of the process during the suspension does not count as a failed attempt.
    const suspended = { ...restartData, handovers: turn.handovers + 1, wakeAt };
    liveTask.commitTurnStart(suspended, turn.findSteps());
  }
  return () => {
    cancelTimer();
    // The end of the attempt stores the time.
    if (!turn.isAborted) turn.wakeAt = undefined;
  };
}
