import { HiddenProperty } from "../../base/data-structures/index.ts";
import type { Run } from "../../engine/index.ts";

/** Runs by their abort signals, which frameworks pass to models and tools. */
const runsBySignal = new HiddenProperty<Run>();

/** Registers the run of a signal, and returns the signal. */
export function registerRunOfSignal(signal: AbortSignal, run: Run): AbortSignal {
  runsBySignal.set(signal, run);
  return signal;
}

export function findRunOfSignal(signal: AbortSignal | undefined): Run | undefined {
  return signal && runsBySignal.get(signal);
}
