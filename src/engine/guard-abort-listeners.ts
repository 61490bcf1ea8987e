import { HiddenProperty } from "../base/data-structures/index.ts";

type ListenerArguments = Parameters<AbortSignal["addEventListener"]>;
type Listener = NonNullable<ListenerArguments[1]>;

/** The guarded listeners of a signal. */
interface ListenerGuards {
  /** Undefined once the signal can no longer abort. */
  onError: ((error: unknown) => void) | undefined;
  readonly byListener: WeakMap<Listener, (event: Event) => void>;
}

const guardsOfSignals = new HiddenProperty<ListenerGuards>();

/**
 * Passes errors of the signal's listeners to `onError`, because Node.js throws an error of a listener as an uncaught
 * exception, which ends the process.
 *
 * All signals have the same methods. If each signal had its own functions, the minor garbage collections of V8 would keep
 * half of all signals, with everything that the functions reference.
 */
export function guardAbortListeners(signal: AbortSignal, onError: (error: unknown) => void): void {
  guardsOfSignals.set(signal, { onError, byListener: new WeakMap() });
  signal.addEventListener = addGuardedListener;
  signal.removeEventListener = removeGuardedListener;
}

/**
 * Releases `onError` of a signal that can no longer abort. Code that outlives a turn keeps its signal: the contexts of ADK
 * stay in memory until the next full garbage collection, and would keep the turn, its task, and its run.
 */
export function releaseAbortListeners(signal: AbortSignal): void {
  const guards = guardsOfSignals.get(signal);
  if (guards) guards.onError = undefined;
}

function addGuardedListener(this: AbortSignal, ...[type, listener, options]: ListenerArguments): void {
  AbortSignal.prototype.addEventListener.call(this, type, findOrCreateGuard(this, listener), options);
}

/** Forgets the guard of the listener, because the minor garbage collections of V8 keep the values of a `WeakMap`. */
function removeGuardedListener(this: AbortSignal, ...[type, listener, options]: ListenerArguments): void {
  AbortSignal.prototype.removeEventListener.call(this, type, findOrCreateGuard(this, listener), options);
  if (listener) guardsOfSignals.get(this)?.byListener.delete(listener);
}

function findOrCreateGuard(signal: AbortSignal, listener: ListenerArguments[1]): ListenerArguments[1] {
  const guards = guardsOfSignals.get(signal);
  if (!listener || !guards) return listener;
  const { byListener } = guards;
  const guard =
    byListener.get(listener) ?? ((event) => void callListener(signal, listener, event, guards.onError));
  byListener.set(listener, guard);
  return guard;
}

async function callListener(
  signal: AbortSignal,
  listener: Listener,
  event: Event,
  onError: ListenerGuards["onError"],
): Promise<void> {
  try {
    const result: unknown =
      typeof listener === "function" ? listener.call(signal, event) : listener.handleEvent(event);
    // An asynchronous listener returns a promise.
    await result;
  } catch (error) {
    onError?.(error);
  }
}
