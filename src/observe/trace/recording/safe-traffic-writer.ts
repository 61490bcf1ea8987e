import { QueuedTrafficWriter, type TrafficWriter, type TrafficWriterOptions } from "./traffic-writer.ts";

/**
 * Returns a writer whose methods neither throw nor reject, because a record must not make a request fail. Returns the
 * same writer if `createTrafficWriter` has created it. `onLoss` receives the first error.
 */
export function withSafeCalls(writer: TrafficWriter, onLoss: TrafficWriterOptions["onLoss"]): TrafficWriter {
  if (writer instanceof QueuedTrafficWriter) return writer;
  let hasReportedLoss = false;
  let lastCallNumber = 0;
  const reportLoss = (cause: unknown): void => {
    if (hasReportedLoss) return;
    hasReportedLoss = true;
    try {
      onLoss?.(cause);
    } catch {
      // An error of the callback must not affect the traffic.
    }
  };
  const callSafely = <T>(call: () => T, fallback: T): T => {
    try {
      return call();
    } catch (cause) {
      reportLoss(cause);
      return fallback;
    }
  };
  const { id, vantage, bodies, frames, header } = writer;
  return {
    id,
    vantage,
    bodies,
    frames,
    header,
    write: (line, rawMembers) => callSafely(() => writer.write(line, rawMembers), false),
    createCallId: () => callSafely(() => writer.createCallId(), `failed-${++lastCallNumber}`),
    subscribe: (listener) => writer.subscribe(listener),
    flush: async () => await callSafely(() => writer.flush(), undefined)?.catch(reportLoss),
    close: async () => await callSafely(() => writer.close(), undefined)?.catch(reportLoss),
  };
}
