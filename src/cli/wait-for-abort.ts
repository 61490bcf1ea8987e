/** Resolves when the signal aborts, or immediately if the signal is already aborted. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Resolves with the result of `work`, or rejects as soon as the signal aborts, even if `work` never ends. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return await Promise.race([
    work,
    waitForAbort(signal).then(() => {
      throw signal.reason;
    }),
  ]);
}
