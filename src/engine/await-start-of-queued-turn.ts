import { Deferred } from "../data-structures/index.ts";
import type { Clock } from "./clock.ts";
import type { TaskFeed, TurnProgress } from "./task-feed.ts";

/**
 * Time in milliseconds for which a running turn may wait for its user, before the senders of queued messages
 * receive the current task. Most agents end their turn within this time after they have asked their user.
 */
export const WAIT_WITHIN_TURN_MS = 1000;

/**
 * Waits until a queued turn begins and resolves with true. Resolves with false if the running turn waits for
 * its user for `WAIT_WITHIN_TURN_MS`, because a turn may then wait without limit. Rejects if the queued turn
 * cannot begin.
 */
export async function awaitStartOfQueuedTurn(
  feed: TaskFeed,
  turn: TurnProgress,
  clock: Clock,
): Promise<boolean> {
  let waitEndsAt: number | undefined;
  for (;;) {
    if (turn.hasBegun) return true;
    // A turn that ends before it begins rejects `durableSeq`.
    if (turn.hasEnded) await turn.durableSeq.promise;
    const change = feed.waitForCommitOrTurnChange();
    if (!feed.isWaitingWithinTurn) {
      waitEndsAt = undefined;
      await change;
      continue;
    }
    waitEndsAt ??= clock.monotonic() + WAIT_WITHIN_TURN_MS;
    const remainingMs = waitEndsAt - clock.monotonic();
    if (remainingMs <= 0) return false;
    await untilChangeOrTimeout(change, remainingMs, clock);
  }
}

async function untilChangeOrTimeout(change: Promise<unknown>, ms: number, clock: Clock): Promise<void> {
  const timeout = new Deferred();
  const cancelTimer = clock.schedule(ms, () => timeout.resolve());
  try {
    await Promise.race([change, timeout.promise]);
  } finally {
    cancelTimer();
  }
}
