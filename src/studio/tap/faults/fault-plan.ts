import type { FaultEffect } from "./fault-rule.ts";

/** The combined effects of all fault rules on one call. */
export interface FaultPlan {
  readonly delayMs: number;
  readonly reject: Extract<FaultEffect, { fault: "reject" }> | undefined;
  readonly kill: Extract<FaultEffect, { fault: "kill" }> | undefined;
  readonly dropsResponse: boolean;
  /** Number of events after which the stream is cut, or `Infinity`. */
  readonly cutAfterEvents: number;
  readonly droppedEvents: ReadonlySet<number>;
  readonly duplicatedEvents: ReadonlySet<number>;
  /** Speed limit of the response body, or `Infinity`. */
  readonly bytesPerSecond: number;
}

/** The plan of a call without faults. */
export const NO_FAULTS: FaultPlan = createFaultPlan([]);

/** Combines effects. Delays add up, the earliest cut and the lowest speed win, and so does the first rejection. */
export function createFaultPlan(effects: readonly FaultEffect[]): FaultPlan {
  const select = <F extends FaultEffect["fault"]>(fault: F): Extract<FaultEffect, { fault: F }>[] =>
    effects.filter((effect): effect is Extract<FaultEffect, { fault: F }> => effect.fault === fault);
  const drops = select("drop");
  return {
    delayMs: select("delay").reduce((sum, { ms }) => sum + ms, 0),
    reject: select("reject")[0],
    kill: select("kill")[0],
    dropsResponse: drops.some(({ event }) => event === undefined),
    cutAfterEvents: Math.min(...select("cut").map(({ afterEvents }) => afterEvents)),
    droppedEvents: new Set(drops.flatMap(({ event }) => event ?? [])),
    duplicatedEvents: new Set(select("duplicate").map(({ event }) => event)),
    bytesPerSecond: Math.min(...select("slow").map(({ bytesPerSecond }) => bytesPerSecond)),
  };
}

/** Returns whether a plan changes single events of a stream, so that the stream is forwarded event by event. */
export function changesEvents({ cutAfterEvents, droppedEvents, duplicatedEvents, kill }: FaultPlan): boolean {
  return (
    cutAfterEvents < Infinity ||
    droppedEvents.size > 0 ||
    duplicatedEvents.size > 0 ||
    (kill !== undefined && kill.afterEvents > 0)
  );
}
