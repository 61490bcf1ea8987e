import type { Observer } from "../../engine/index.ts";

/** Returns an observer that calls the listeners of both observers. A listener that throws does not affect the other. */
export function joinObservers(first: Observer, second: Observer): Observer {
  const joined: Record<string, unknown> = { ...first };
  for (const [name, listener] of Object.entries(second)) {
    const known = joined[name];
    joined[name] = isListener(known) ? callBoth(known, listener) : listener;
  }
  return joined;
}

type Listener = (seen: unknown) => unknown;

function isListener(value: unknown): value is Listener {
  return typeof value === "function";
}

function callBoth(first: Listener, second: Listener): Listener {
  return (seen) => {
    try {
      return first(seen);
    } finally {
      second(seen);
    }
  };
}
