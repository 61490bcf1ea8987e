import type { Clock, Observer, TaskStore } from "../../engine/index.ts";

/** Time between two reports in milliseconds. */
const REPORT_INTERVAL_MS = 10_000;

/**
 * Reports the gauges of an open store at once and every 10 seconds, if the store has gauges and the observer listens.
 * Returns a function that stops the reports.
 */
export function startStoreGaugeReports(
  { readGauges }: Pick<TaskStore, "readGauges">,
  { onStoreGauges }: Pick<Observer, "onStoreGauges">,
  clock: Clock,
): () => void {
  if (!readGauges || !onStoreGauges) return () => {};
  let cancelNext: (() => void) | undefined;
  const report = (): void => {
    onStoreGauges(readGauges());
    cancelNext = clock.schedule(REPORT_INTERVAL_MS, report);
  };
  report();
  return () => cancelNext?.();
}
