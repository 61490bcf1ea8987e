type ListenerArguments = Parameters<AbortSignal["addEventListener"]>;
type Listener = NonNullable<ListenerArguments[1]>;

/**
 * Passes errors of the signal's listeners to `onError`, because Node.js throws an error of a listener as an uncaught
 * exception, which ends the process.
 */
export function guardAbortListeners(signal: AbortSignal, onError: (error: unknown) => void): void {
  const guards = new WeakMap<Listener, (event: Event) => void>();
  const findOrCreateGuard = (listener: Listener): ((event: Event) => void) => {
    const guard = guards.get(listener) ?? ((event) => void callListener(signal, listener, event, onError));
    guards.set(listener, guard);
    return guard;
  };
  for (const name of ["addEventListener", "removeEventListener"] as const) {
    const call = signal[name].bind(signal);
    signal[name] = (...[type, listener, options]: ListenerArguments) =>
      call(type, listener && findOrCreateGuard(listener), options);
  }
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
