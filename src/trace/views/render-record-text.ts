import { getTaskPeriod } from "../model/task-activities.ts";
import { computeTaskCriticalPath, summarizeCriticalPath } from "../model/critical-path.ts";
import { addUsage, formatPrice, type TokenUsage } from "../prices/token-usage.ts";
import { formatState } from "../model/traffic-sequence.ts";
import type { TrafficModel } from "../model/traffic-model.ts";
import type { TrafficTask } from "../model/traffic-task.ts";
import type { TrafficExchange } from "../model/traffic-exchange.ts";
import { describeMark, describeTrafficLine, formatDuration } from "./describe-line.ts";

/** Renders the tasks of a record as a tree of callers and their tasks, with their states, durations, and marks. */
export function renderTrafficOverview(model: TrafficModel): string {
  const roots = [...model.tasks.values()]
    .filter((task) => model.findParentTaskKey(task.key) === undefined)
    .toSorted((a, b) => a.startMs - b.startMs);
  const lines = roots.flatMap((task) => renderTaskTree(model, task, "", new Set()));
  const withoutTask = model.exchanges.filter(({ taskKey }) => taskKey === undefined);
  const writers = [...model.writers.values()].map(
    ({ line, id, lines: count, lostLines }) =>
      `${line?.vantage ?? "writer"} ${line?.name ?? id}: ${count} lines${lostLines > 0 ? `, ${lostLines} lost` : ""}`,
  );
  return [
    ...(lines.length > 0 ? lines : ["The record contains no tasks."]),
    ...(withoutTask.length > 0 ? ["", "Requests without a task", ...withoutTask.map(renderExchange)] : []),
    "",
    "Written by",
    ...writers.map((text) => `  ${text}`),
    "",
  ].join("\n");
}

/** Renders the timeline of a task: each line with its time since the start, its marks, and its readers. */
export function renderTaskTimeline(model: TrafficModel, task: TrafficTask): string {
  const { startMs, endMs } = getTaskPeriod(task);
  const entries = task.timeline.map(({ line, timeMs, marks }) => {
    const time = `${(timeMs - startMs).toFixed(1).padStart(9)} ms`;
    const who = (model.writers.get(line.writer)?.line?.vantage ?? line.writer).padEnd(6);
    const marked = marks.map((mark) => `  [${describeMark(mark)}]`).join("");
    return `${time}  ${who}  ${line.kind.padEnd(10)}  ${describeTrafficLine(line, task)}${marked}`;
  });
  const readers = task.readers.map(
    ({ from, vantage, lastLogSeq, frames, state }) =>
      `  ${from ?? vantage}: ${frames} frames${lastLogSeq === undefined ? "" : ` up to event ${lastLogSeq}`}, ${state}`,
  );
  const path = summarizeCriticalPath(computeTaskCriticalPath(model, task)).map(
    ({ kind, name, durationMs, share }) =>
      `  ${formatDuration(durationMs).padStart(9)}  ${`${Math.round(share * 100)} %`.padStart(5)}  ${kind === "own" ? "work" : kind}${name === "" ? "" : ` of ${name}`}`,
  );
  return [
    `${renderTaskHead(task)} in ${formatDuration(endMs - startMs)}`,
    "",
    ...entries,
    ...(readers.length > 0 ? ["", "Readers", ...readers] : []),
    ...(path.length > 0 ? ["", "Time", ...path] : []),
    "",
  ].join("\n");
}

/** Returns the usage of a task and of all tasks that its agent started. */
export function computeTotalUsage(
  model: TrafficModel,
  task: TrafficTask,
  visited: Set<string> = new Set(),
): TokenUsage {
  visited.add(task.key);
  return listChildTasks(model, task.key)
    .filter((child) => !visited.has(child.key))
    .reduce((sum, child) => addUsage(sum, computeTotalUsage(model, child, visited)), task.usage);
}

/** Lists the tasks that the agent of a task started, in the order of time. */
export function listChildTasks(model: TrafficModel, parentKey: string): TrafficTask[] {
  const keys = model.exchanges.flatMap(({ taskKey, parentTaskKey }) =>
    parentTaskKey === parentKey && taskKey !== undefined ? [taskKey] : [],
  );
  return [...new Set(keys)].flatMap((key) => model.tasks.get(key) ?? []);
}

function renderTaskTree(
  model: TrafficModel,
  task: TrafficTask,
  indent: string,
  visited: Set<string>,
): string[] {
  if (visited.has(task.key)) return [];
  visited.add(task.key);
  const { startMs, endMs } = getTaskPeriod(task);
  const usage = computeTotalUsage(model, task);
  const tokens = usage.calls === 0 ? "" : `, ${usage.inputTokens + usage.outputTokens} tokens`;
  const formattedPrice = formatPrice(usage);
  const price = formattedPrice === "" ? "" : `, ${formattedPrice}`;
  const counts = countMarks(task);
  const head = `${indent}${renderTaskHead(task)} in ${formatDuration(endMs - startMs)}, ${task.entryCount} lines${tokens}${price}${counts}`;
  return [
    head,
    ...listChildTasks(model, task.key).flatMap((child) =>
      renderTaskTree(model, child, `${indent}  `, visited),
    ),
  ];
}

function renderTaskHead({ id, agent = "agent", state }: TrafficTask): string {
  return `${agent}  ${id}  ${state === undefined ? "unknown" : formatState(state)}`;
}

function countMarks(task: TrafficTask): string {
  const kinds = [...task.marks.values()].flat().map(({ kind }) => kind);
  const counts = [...Map.groupBy(kinds, (kind) => kind)].map(([kind, { length }]) => `${length} ${kind}`);
  return counts.length === 0 ? "" : `  [${counts.join(", ")}]`;
}

function renderExchange({ from, to, operation, hasFailed, calls }: TrafficExchange): string {
  const error = calls.find((call) => call.response?.line.error !== undefined)?.response?.line.error;
  return `  ${from} to ${to}: ${operation}${hasFailed ? ` failed${error === undefined ? "" : `: ${error}`}` : ""}`;
}
