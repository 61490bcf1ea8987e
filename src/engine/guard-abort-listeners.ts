type ListenerArguments = Parameters<AbortSignal["addEventListener"]>;
type Listener = NonNullable<ListenerArguments[1]>;

/**
 * Passes errors of the signal's listeners to `onError`, because Node.js throws an error of a listener as an uncaught
 * exception, which ends the process.
 */
export function guardAbortListeners(signal: AbortSignal, onError: (error: unknown) => void): void {
  let guards: WeakMap<Listener, (event: Event) => void> | undefined;
  const findOrCreateGuard = (listener: Listener): ((event: Event) => void) => {
    // Most signals get no listener.
    guards ??= new WeakMap();
    const guard = guards.get(listener) ?? ((event) => void callListener(signal, listener, event, onError));
    guards.set(listener, guard);
    return guard;
  };
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...[type, listener, options]: ListenerArguments) =>
    add(type, listener && findOrCreateGuard(listener), options);
  signal.removeEventListener = (...[type, listener, options]: ListenerArguments) =>
    remove(type, listener && findOrCreateGuard(listener), options);
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
