import {
  getTaskPeriod,
  listObservedTurns,
  listTaskActivities,
  type TaskActivity,
} from "./task-activities.ts";
import type { TrafficModel } from "./traffic-model.ts";
import { CLOCK_TOLERANCE_MS, type TrafficTask } from "./traffic-task.ts";

/** A part of the critical path, in which one party determined the duration of the root task. */
export interface CriticalPathStep {
  /**
   * `own` is the work of the agent itself. `unobserved` is the time of a task whose turn the record does not contain, so
   * that its work is unknown. The other kinds are those of `TaskActivity`.
   */
  readonly kind: TaskActivity["kind"] | "own" | "unobserved";
  /** The agent, the model, or the tool that worked. */
  readonly name: string;
  /** Task during which the step happened. */
  readonly taskKey: string;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Computes the critical path of a task. The steps have no gaps and do not overlap, so that their durations add up to
 * the duration of the task. The search runs backward from the end: the latest activity that ended before determines
 * when the agent could continue. The path enters the tasks of other agents. The time of a called task without an observed
 * turn is a wait for its agent. Returns no steps if the record shows nothing about the work on the task.
 */
export function computeTaskCriticalPath(model: TrafficModel, task: TrafficTask): CriticalPathStep[] {
  const { startMs, endMs } = getTaskPeriod(task);
  const steps: CriticalPathStep[] = [];
  walkBackward(model, task, startMs, endMs, steps, new Set([task.key]));
  const isUnexplained = steps.every(({ kind }) => UNEXPLAINED_KINDS.has(kind));
  // The turns of an agent that only asks can be shorter than the difference of the clocks.
  return isUnexplained && task.turns.length === 0 ? [] : steps.toReversed();
}

/** Kinds of steps that any log of a task shows, and that do not tell what its agent did. */
const UNEXPLAINED_KINDS: ReadonlySet<string> = new Set(["unobserved", "user", "queue"]);

/** Adds the steps of a task between two times, latest first. */
function walkBackward(
  model: TrafficModel,
  task: TrafficTask,
  startMs: number,
  endMs: number,
  steps: CriticalPathStep[],
  visited: ReadonlySet<string>,
): void {
  const name = task.agent ?? "agent";
  const turns = listObservedTurns(task).toReversed();
  let at = endMs;
  const addWork = (from: number): void => {
    const beyondTurns = visited.size > 1 ? "agent" : "unobserved";
    for (const turn of turns) {
      if (turn.startMs > at + CLOCK_TOLERANCE_MS || turn.endMs < from - CLOCK_TOLERANCE_MS) continue;
      // A shorter time outside of the turn is not longer than the difference of the clocks.
      if (at - turn.endMs > CLOCK_TOLERANCE_MS) add(beyondTurns, name, turn.endMs);
      add("own", name, turn.startMs - from > CLOCK_TOLERANCE_MS ? turn.startMs : from);
    }
    add(beyondTurns, name, from);
  };
  const add = (kind: CriticalPathStep["kind"], who: string, from: number): void => {
    if (from < at) steps.push({ kind, name: who, taskKey: task.key, startMs: from, endMs: at });
    at = Math.min(at, from);
  };
  const byEnd = listActivitiesWithoutNesting(model, task).toSorted(
    (a, b) => b.endMs - a.endMs || b.startMs - a.startMs,
  );
  for (const activity of byEnd) {
    if (at <= startMs) break;
    // An activity that overlaps a later one on the path counts only with its earlier part.
    if (activity.startMs >= at) continue;
    const activityEnd = Math.min(activity.endMs, at);
    addWork(Math.max(activityEnd, startMs));
    const activityStart = Math.max(activity.startMs, startMs);
    const child = activity.kind === "agent" ? model.tasks.get(activity.taskKey ?? "") : undefined;
    if (!child || visited.has(child.key)) {
      add(activity.kind, activity.name, activityStart);
      continue;
    }
    const period = getTaskPeriod(child);
    const childEnd = Math.max(activityStart, Math.min(period.endMs, at));
    const childStart = Math.min(Math.max(period.startMs, activityStart), childEnd);
    // The response was in transit after the end of the task, and the request before its start.
    add("agent", activity.name, childEnd);
    if (childStart < childEnd)
      walkBackward(model, child, childStart, childEnd, steps, new Set([...visited, child.key]));
    at = childStart;
    add("agent", activity.name, activityStart);
  }
  addWork(startMs);
}

/** A tool that calls another agent waits for the agent. A request during several tools can belong to each of them. */
function listActivitiesWithoutNesting(model: TrafficModel, task: TrafficTask): TaskActivity[] {
  const activities = listTaskActivities(model, task);
  const tools = activities.filter(({ kind }) => kind === "tool");
  const requests = activities.filter(
    (one) =>
      one.kind === "agent" &&
      tools.filter(({ startMs, endMs }) => startMs <= one.startMs && one.endMs <= endMs).length === 1,
  );
  return activities.flatMap((activity) => {
    if (activity.kind !== "tool") return [activity];
    const pieces: TaskActivity[] = [];
    let { startMs } = activity;
    for (const request of requests) {
      if (request.startMs < startMs || request.endMs > activity.endMs) continue;
      pieces.push({ ...activity, startMs, endMs: request.startMs });
      startMs = request.endMs;
    }
    return [...pieces, { ...activity, startMs }];
  });
}

/** Time that one party contributes to a critical path. */
export interface CriticalPathShare {
  readonly kind: CriticalPathStep["kind"];
  readonly name: string;
  readonly durationMs: number;
  /** Fraction of the path, from 0 to 1. */
  readonly share: number;
}

/** Adds up the steps of a critical path by kind and party, longest first. */
export function summarizeCriticalPath(steps: readonly CriticalPathStep[]): CriticalPathShare[] {
  const total = steps.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  const groups = Map.groupBy(steps, ({ kind, name }) => JSON.stringify([kind, name]));
  return [...groups.values()]
    .map((group): CriticalPathShare => {
      const { kind, name } = group[0] as CriticalPathStep;
      const durationMs = group.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
      return { kind, name, durationMs, share: total > 0 ? durationMs / total : 0 };
    })
    .toSorted((a, b) => b.durationMs - a.durationMs || (a.name < b.name ? -1 : 1));
}
