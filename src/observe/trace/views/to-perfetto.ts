import type { JsonObject } from "../../../protocol/index.ts";
import { getTaskPeriod, listTaskActivities } from "../model/task-activities.ts";
import type { TrafficModel } from "../model/traffic-model.ts";
import { describeMark } from "./describe-line.ts";

/**
 * Converts a record to a trace for ui.perfetto.dev and chrome://tracing. Each agent is a process. Each task has a thread
 * for itself, and one thread for each concurrent wait, because slices of one thread must not overlap partially.
 * With `tasks`, the trace contains only the tasks with these keys.
 */
export function toTrafficPerfettoTrace(model: TrafficModel, tasks?: ReadonlySet<string>): JsonObject {
  const processIds = new Map<string, number>();
  const events: JsonObject[] = [];
  let thread = 0;
  const shown = [...model.tasks.values()]
    .filter(({ key }) => !tasks || tasks.has(key))
    .toSorted((a, b) => a.startMs - b.startMs);
  const originMs = shown[0]?.startMs ?? 0;
  const toMicroseconds = (ms: number): number => Math.round((ms - originMs) * 1_000);
  for (const task of shown) {
    const agent = task.agent ?? "agent";
    const pid = processIds.get(agent) ?? processIds.size + 1;
    if (!processIds.has(agent)) {
      processIds.set(agent, pid);
      events.push({ ph: "M", pid, name: "process_name", args: { name: agent } });
    }
    thread += 1;
    const taskThread = thread;
    const addSlice = (tid: number, name: string, category: string, startMs: number, endMs: number): void => {
      const ts = toMicroseconds(startMs);
      const dur = Math.max(0, toMicroseconds(endMs) - ts);
      events.push({ ph: "X", pid, tid, ts, dur, name, cat: category, args: { task: task.id } });
    };
    const { startMs, endMs } = getTaskPeriod(task);
    addSlice(taskThread, `task ${task.id}`, "task", startMs, endMs);
    const threadEnds: number[] = [];
    for (const { kind, name, startMs: from, endMs: to } of listTaskActivities(model, task)) {
      const free = threadEnds.findIndex((end) => end <= from);
      const at = free < 0 ? threadEnds.length : free;
      threadEnds[at] = to;
      addSlice(taskThread + 1 + at, `${kind} ${name}`.trim(), kind, from, to);
    }
    thread += threadEnds.length;
    for (const [{ timeMs }, marks] of task.marks)
      for (const mark of marks)
        events.push({
          ph: "i",
          s: "t",
          pid,
          tid: taskThread,
          ts: toMicroseconds(timeMs),
          name: describeMark(mark),
          cat: "mark",
        });
  }
  return { displayTimeUnit: "ms", traceEvents: events };
}
