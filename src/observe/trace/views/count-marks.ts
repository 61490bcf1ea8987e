import { findEarlyEnd } from "../model/traffic-exchange.ts";
import type { TrafficModel } from "../model/traffic-model.ts";
import type { TrafficTask } from "../model/traffic-task.ts";

/**
 * Counts the marks of a task by kind. A client, a tap, and a server may all have observed the same request, so that a
 * mark of its stream counts only once. Injected faults and lost lines belong to one observer, and
 * are all counted.
 */
export function countMarks(model: TrafficModel, task: TrafficTask): Record<string, number> {
  const counts: Record<string, number> = {};
  const observed = new Map<string, number>();
  for (const [{ line }, marks] of task.marks) {
    const call = `${line.writer}/${"call" in line ? line.call : ""}`;
    const exchange = model.findExchange(call);
    if (line.kind === "stream-end" && exchange && findEarlyEnd(exchange)?.line !== line) continue;
    for (const { kind } of marks) {
      const isShared = kind !== "fault" && kind !== "lost-lines";
      const scope = `${kind}\n${(isShared && exchange?.key) || call}`;
      const ofObserver = (observed.get(`${scope}\n${call}`) ?? 0) + 1;
      observed.set(`${scope}\n${call}`, ofObserver);
      if (ofObserver <= (observed.get(scope) ?? 0)) continue;
      observed.set(scope, ofObserver);
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
  }
  return counts;
}
