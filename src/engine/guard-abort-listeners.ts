import { HiddenProperty } from "../base/data-structures/index.ts";

type ListenerArguments = Parameters<AbortSignal["addEventListener"]>;
type Listener = NonNullable<ListenerArguments[1]>;

/** The guarded listeners of a signal. */
interface ListenerGuards {
  readonly onError: (error: unknown) => void;
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

function addGuardedListener(this: AbortSignal, ...[type, listener, options]: ListenerArguments): void {
  AbortSignal.prototype.addEventListener.call(this, type, findOrCreateGuard(this, listener), options);
}

function removeGuardedListener(this: AbortSignal, ...[type, listener, options]: ListenerArguments): void {
  AbortSignal.prototype.removeEventListener.call(this, type, findOrCreateGuard(this, listener), options);
}

function findOrCreateGuard(signal: AbortSignal, listener: ListenerArguments[1]): ListenerArguments[1] {
  const guards = guardsOfSignals.get(signal);
  if (!listener || !guards) return listener;
  const { onError, byListener } = guards;
  const guard = byListener.get(listener) ?? ((event) => void callListener(signal, listener, event, onError));
  byListener.set(listener, guard);
  return guard;
}

async function callListener(
  signal: AbortSignal,
  listener: Listener,
  event: Event,
  onError: (error: unknown) => void,
): Promise<void> {
  try {
    const result: unknown =
      typeof listener === "function" ? listener.call(signal, event) : listener.handleEvent(event);
    // An asynchronous listener returns a promise.
    await result;
  } catch (error) {
    onError(error);
  }
}
