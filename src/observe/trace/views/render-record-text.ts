import { getTaskDuration } from "../model/task-activities.ts";
import { hasKnownTime } from "../traffic-line-codec.ts";
import { computeTaskCriticalPath, summarizeCriticalPath } from "../model/critical-path.ts";
import { addUsage, formatPrice, formatTokens, type TokenUsage } from "../prices/token-usage.ts";
import { formatState } from "../model/traffic-sequence.ts";
import type { TrafficModel } from "../model/traffic-model.ts";
import type { TrafficTask } from "../model/traffic-task.ts";
import type { TrafficExchange } from "../model/traffic-exchange.ts";
import { countMarks } from "./count-marks.ts";
import { describeMark, describeTrafficLine, formatDuration } from "./describe-line.ts";

/** Deeper tasks have the indentation of this level. */
const MAX_INDENT_LEVELS = 20;

/** Renders the tasks of a record as a tree of callers and their tasks, with their states, durations, and marks. */
export function renderTrafficOverview(model: TrafficModel): string {
  const tasks = [...model.tasks.values()].toSorted((a, b) => a.startMs - b.startMs);
  const roots = tasks.filter((task) => model.findParentTaskKey(task.key) === undefined);
  const visited = new Set<string>();
  // A damaged record can contain tasks that call each other in a circle, which have no root.
  const lines = [...roots, ...tasks].flatMap((task) =>
    visited.has(task.key) ? [] : renderTaskTree(model, task, visited),
  );
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

/** Replaces the critical path of a task whose work the record does not contain. */
export const UNOBSERVED_TASK = "No requests or model calls of this task were observed.";

/** Renders the timeline of a task: each line with its time since the start, its marks, and its readers. */
export function renderTaskTimeline(model: TrafficModel, task: TrafficTask): string {
  const entries = task.timeline.map(({ line, timeMs, marks }) => {
    const time = hasKnownTime(line)
      ? `${(timeMs - task.startMs).toFixed(1).padStart(9)} ms`
      : `${"–".padStart(9)}   `;
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
    `${renderTaskHead(task)} in ${formatDuration(getTaskDuration(task))}`,
    "",
    ...entries,
    ...(readers.length > 0 ? ["", "Readers", ...readers] : []),
    "",
    ...(path.length > 0 ? ["Time", ...path] : [UNOBSERVED_TASK]),
    "",
  ].join("\n");
}

/** A task in the tree of callers and their tasks. */
interface TaskTreeNode {
  readonly task: TrafficTask;
  /** Position of the caller's task in the list, or undefined for the first task. */
  readonly parent: number | undefined;
  readonly depth: number;
}

/**
 * Lists a task and the tasks that its agent started, callers first. Tasks in `visited` are omitted, and the listed ones
 * are added. The search is iterative, because a record may contain a chain of any length.
 */
function listTaskTree(model: TrafficModel, root: TrafficTask, visited: Set<string>): TaskTreeNode[] {
  const nodes: TaskTreeNode[] = [];
  const open: TaskTreeNode[] = [{ task: root, parent: undefined, depth: 0 }];
  for (let node = open.pop(); node; node = open.pop()) {
    if (visited.has(node.task.key)) continue;
    visited.add(node.task.key);
    const parent = nodes.push(node) - 1;
    const depth = node.depth + 1;
    for (const task of listChildTasks(model, node.task.key).toReversed()) open.push({ task, parent, depth });
  }
  return nodes;
}

/** Computes the usage of each node, with the usage of the tasks below. Children follow their parents in the list. */
function addUsageOfChildren(nodes: readonly TaskTreeNode[]): TokenUsage[] {
  const totals = nodes.map(({ task }) => task.usage);
  for (const [at, { parent }] of [...nodes.entries()].toReversed()) {
    const [total, parentTotal] = [totals[at], parent === undefined ? undefined : totals[parent]];
    if (total && parentTotal && parent !== undefined) totals[parent] = addUsage(parentTotal, total);
  }
  return totals;
}

/** Lists a task and all tasks that its agent started, directly or through other agents. Callers precede their tasks. */
export function listTaskFamily(model: TrafficModel, task: TrafficTask): TrafficTask[] {
  return listTaskTree(model, task, new Set()).map((node) => node.task);
}

/** Returns the usage of a task and of all tasks that its agent started. */
export function computeTotalUsage(model: TrafficModel, task: TrafficTask): TokenUsage {
  return addUsageOfChildren(listTaskTree(model, task, new Set()))[0] ?? task.usage;
}

/** Lists the tasks that the agent of a task started, in the order of time. */
export function listChildTasks(model: TrafficModel, parentKey: string): TrafficTask[] {
  const keys = model.listExchangesDuring(parentKey).flatMap(({ taskKey }) => taskKey ?? []);
  return [...new Set(keys)].flatMap((key) => model.tasks.get(key) ?? []);
}

function renderTaskTree(model: TrafficModel, root: TrafficTask, visited: Set<string>): string[] {
  const nodes = listTaskTree(model, root, visited);
  const totals = addUsageOfChildren(nodes);
  return nodes.map(({ task, depth }, at) => {
    const usage = totals[at] ?? task.usage;
    const tokens = usage.calls === 0 ? "" : `, ${formatTokens(usage)} tokens`;
    const formattedPrice = formatPrice(usage);
    const price = formattedPrice === "" ? "" : `, ${formattedPrice}`;
    const indent = "  ".repeat(Math.min(depth, MAX_INDENT_LEVELS));
    return `${indent}${renderTaskHead(task)} in ${formatDuration(getTaskDuration(task))}, ${task.entries.length} lines${tokens}${price}${renderMarks(model, task)}`;
  });
}

function renderTaskHead({ id, agent = "agent", state }: TrafficTask): string {
  return `${agent}  ${id}  ${state === undefined ? "unknown" : formatState(state)}`;
}

function renderMarks(model: TrafficModel, task: TrafficTask): string {
  const counts = Object.entries(countMarks(model, task)).map(([kind, count]) => `${count} ${kind}`);
  return counts.length === 0 ? "" : `  [${counts.join(", ")}]`;
}

function renderExchange({ from, to, operation, hasFailed, calls }: TrafficExchange): string {
  const error = calls.find((call) => call.response?.line.error !== undefined)?.response?.line.error;
  return `  ${from} to ${to}: ${operation}${hasFailed ? ` failed${error === undefined ? "" : `: ${error}`}` : ""}`;
}
