import { reportTelemetryError } from "../telemetry-errors.ts";

/**
 * Calls a function of OpenTelemetry, which can call samplers, span processors, and context managers of the program.
 * Returns `fallback` if the function throws an error.
 */
export function callSafely<T>(call: () => T, fallback: T): T {
  try {
    return call();
  } catch (error) {
    reportTelemetryError(error);
    return fallback;
  }
}

/**
 * Runs `work` in a context of OpenTelemetry: `enterContext` enters the context, and calls its argument. If the context
 * manager throws an error, `work` runs without the context. `work` runs once in every case.
 */
export function runSafely<T>(enterContext: (work: () => T) => unknown, work: () => T): T {
  let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  const runWork = (): T => {
    try {
      const value = work();
      outcome = { value };
      return value;
    } catch (error) {
      outcome = { error };
      throw error;
    }
  };
  try {
    enterContext(runWork);
  } catch (error) {
    if (!outcome || !("error" in outcome)) reportTelemetryError(error);
  }
  if (!outcome) return work();
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}
