import { systemClock, type Engine } from "../engine/index.ts";
import type { Outbox } from "../webhooks/index.ts";
import { defineOptionNames } from "../base/usage-checks/index.ts";

/** Options for `Server.processDueWork`. */
export interface DueWorkOptions {
  /** Maximum time in milliseconds that the function waits for the work. Default: 50,000. */
  readonly timeLimitMs?: number;
}

/** The work that a call of `Server.processDueWork` has found. */
export interface DueWorkReport {
  /** Number of agent runs that have started. */
  readonly turns: number;
  /** Number of push notifications that receivers have accepted. */
  readonly notifications: number;
  /** False if the time limit has passed before the work has ended. Agents that still run continue. */
  readonly isComplete: boolean;
}

const DEFAULT_TIME_LIMIT_MS = 50_000;

export const assertKnownDueWorkOptions: (options: DueWorkOptions | undefined) => void =
  defineOptionNames<DueWorkOptions>()("processDueWork", "timeLimitMs");

/**
 * Starts the waiting turns and the undelivered push notifications of a store, and waits until they end. Repeats this
 * until no more work is due, because the end of a turn can make other work due.
 */
export async function processDueWork(
  engines: readonly Engine[],
  outbox: Outbox | undefined,
  openStore: () => Promise<void>,
  { timeLimitMs = DEFAULT_TIME_LIMIT_MS }: DueWorkOptions = {},
): Promise<DueWorkReport> {
  const countRuns = (): number => engines.reduce((sum, { startedRunCount }) => sum + startedRunCount, 0);
  const runsBefore = countRuns();
  const notificationsBefore = outbox?.deliveredCount ?? 0;
  const { promise: timeLimit, resolve: endTime } = Promise.withResolvers<"time limit">();
  const cancelTimer = systemClock.schedule(timeLimitMs, () => endTime("time limit"));
  const processAll = async (): Promise<"done"> => {
    // A server that opens its store starts the waiting turns, which count.
    await openStore();
    for (let isDone = false; !isDone;) {
      const runs = countRuns();
      await Promise.all([...engines.map((engine) => engine.startDueTurns()), outbox?.searchAllWebhooks()]);
      await waitForRunningWork(engines, outbox);
      isDone = countRuns() === runs;
    }
    return "done";
  };
  const outcome = await Promise.race([processAll(), timeLimit]);
  cancelTimer();
  return {
    turns: countRuns() - runsBefore,
    notifications: (outbox?.deliveredCount ?? 0) - notificationsBefore,
    isComplete: outcome === "done",
  };
}

/** Keeps a serverless function running until the promise settles. */
type WaitUntilFunction = (work: Promise<unknown>) => void;

/**
 * Returns the function of a serverless host that keeps a request's process running, from the second argument of
 * `Server.fetch`. Vercel and Cloudflare name the function `waitUntil`.
 */
export function findWaitUntil(runtimeInfo: unknown): WaitUntilFunction | undefined {
  if (typeof runtimeInfo !== "object" || runtimeInfo === null || !("waitUntil" in runtimeInfo))
    return undefined;
  const { waitUntil } = runtimeInfo;
  // Cloudflare's function requires its execution context as `this`.
  return typeof waitUntil === "function" ? (work) => void waitUntil.call(runtimeInfo, work) : undefined;
}

/**
 * Resolves when no agent is running, and when no push notification is being sent. Suspended turns and notifications
 * that wait for a retry do not count, because a scheduler continues them (`Server.processDueWork`).
 */
export async function waitForRunningWork(
  engines: readonly Engine[],
  outbox: Outbox | undefined,
): Promise<void> {
  await Promise.all(engines.map((engine) => engine.waitUntilIdle()));
  await outbox?.waitUntilIdle();
}
