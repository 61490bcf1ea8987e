/** Shortest time in milliseconds between two reports. A sampler that throws would otherwise be reported for each request. */
const REPORT_INTERVAL_MS = 60_000;

const listeners = new Set<(error: unknown) => void>();
let nextReportAt = -Infinity;

/** Calls `listener` with errors of the program's OpenTelemetry. Returns a function that removes the listener. */
export function onTelemetryError(listener: (error: unknown) => void): () => void {
  listeners.add(listener);
  nextReportAt = -Infinity;
  return () => void listeners.delete(listener);
}

/** Reports an error of the program's OpenTelemetry, such as a sampler that throws, at most once per minute. */
export function reportTelemetryError(error: unknown): void {
  const now = performance.now();
  if (now < nextReportAt) return;
  nextReportAt = now + REPORT_INTERVAL_MS;
  for (const listener of listeners) listener(error);
}
