import type { Clock } from "../clock.ts";

/** Longest delay of one timer in milliseconds, so that a change of the wall clock takes effect within an hour. */
const MAX_TIMER_DELAY_MS = 60 * 60 * 1000;

/** Resolves once the wall clock reaches `time` in milliseconds since 1970. Rejects if the signal aborts. */
export async function sleepUntil(time: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const remainingMs = time - clock.now();
    if (remainingMs <= 0) return;
    await delay(Math.min(remainingMs, MAX_TIMER_DELAY_MS), clock, signal);
  }
}

function delay(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.schedule(ms, end);
    signal.addEventListener("abort", end);
  });
}

/** Throws an error that names the function and its key if `until` is no time. */
export function assertValidWakeTime(name: "sleep" | "suspend", key: string, until: Date | number): void {
  // Agents in JavaScript can pass any value.
  const time: unknown = typeof until === "number" ? until : (until as Partial<Date> | null)?.getTime?.();
  if (Number.isFinite(time)) return;
  throw new TypeError(
    `"until" of run.${name}(${JSON.stringify(key)}, until) is not a time; pass milliseconds or a valid Date.`,
  );
}
