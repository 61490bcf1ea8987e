import { A2AError } from "../../protocol/index.ts";

/** The largest delay of `setTimeout` in milliseconds. A longer delay would expire immediately. */
export const MAX_TIMER_MS = 2_147_483_647;

/**
 * Calls a function with a signal that aborts after `timeoutMs` milliseconds or when the caller's signal aborts. If the
 * time expires first, the function rejects with `createError()`, even if the work ignores its signal. The value
 * `Infinity` disables the deadline.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  createError: () => A2AError,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (timeoutMs === Infinity) return await work(signal);
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(() => controller.abort(createError()), Math.min(timeoutMs, MAX_TIMER_MS));
  try {
    return await untilAborted(work(controller.signal), controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/**
 * The errors for expired deadlines. Their metadata proves nothing, because a server chooses the metadata of its errors.
 */
const timeoutErrors = new WeakSet<A2AError>();

/** Returns whether an error reports an expired deadline of the client. */
export function isTimeoutError(error: A2AError): boolean {
  return timeoutErrors.has(error);
}

/** Creates an `UNAVAILABLE` error for an expired deadline. */
export function createTimeoutError(subject: string, timeoutMs: number, advice: string): A2AError {
  const message = `${subject} within ${timeoutMs / 1_000} s. ${advice}.`;
  const error = new A2AError("UNAVAILABLE", message, { metadata: { timeoutMs: String(timeoutMs) } });
  timeoutErrors.add(error);
  return error;
}

/** Creates the error for a stream or a request for a stream that has been silent for too long. */
export function createStreamIdleError(origin: string, idleTimeoutMs: number): A2AError {
  return createTimeoutError(`${origin} sent nothing`, idleTimeoutMs, "Raise timeouts.streamIdleMs");
}

/**
 * Settles like the given promise, but rejects with the signal's reason if the signal aborts first. The work
 * behind the promise continues after an abort.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Resolves after `ms` milliseconds, or rejects with the signal's reason as soon as the signal aborts. */
export async function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await untilAborted(promise, signal);
  } finally {
    clearTimeout(timer);
  }
}
