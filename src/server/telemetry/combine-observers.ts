import type { Observer } from "../../engine/index.ts";

type Listener = (seen: unknown) => void;

/**
 * Returns an observer that calls the listeners of several observers, which must not throw. Missing listeners stay
 * missing, because the engine then does not build the report.
 */
export function combineObservers(observers: readonly Observer[]): Observer {
  const listenersByName = new Map<string, Listener[]>();
  for (const observer of observers)
    for (const [name, listener] of Object.entries(observer) as [string, Listener][])
      listenersByName.set(name, [...(listenersByName.get(name) ?? []), listener]);
  return Object.fromEntries(
    [...listenersByName].map(([name, listeners]): [string, Listener] => [
      name,
      (seen) => {
        for (const listener of listeners) listener(seen);
      },
    ]),
  );
}
