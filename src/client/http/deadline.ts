import { A2AError } from "../../protocol/index.ts";
import { untilAborted } from "./abortable-waits.ts";

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
