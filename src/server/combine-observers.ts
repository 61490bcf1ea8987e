import { withSafeListeners, type Observer } from "../engine/index.ts";

const LISTENER_NAMES = Object.keys({
  onEvent: true,
  onRun: true,
  onPush: true,
  onSweep: true,
  onStoreState: true,
  onStoreMigration: true,
  onStoreGauges: true,
  onError: true,
  onCredentialsRejected: true,
  onReaderStalled: true,
  onRequest: true,
  onOperatorAccess: true,
} satisfies Record<keyof Observer, true>) as (keyof Observer)[];

/** Returns an observer that calls the listeners of several observers. The listeners of the result cannot throw. */
export function combineObservers(observers: readonly Observer[]): Observer {
  const safeObservers = observers.map(withSafeListeners);
  const listeners = LISTENER_NAMES.flatMap((name) => {
    const found = safeObservers.flatMap((observer) => observer[name] ?? []);
    const callAll = (seen: never): void => {
      for (const listener of found) listener(seen);
    };
    return found.length === 0 ? [] : [[name, callAll]];
  });
  return Object.fromEntries(listeners) as Observer;
}
