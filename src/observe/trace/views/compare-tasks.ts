import { getText } from "../../../protocol/index.ts";
import { getTaskPeriod } from "../model/task-activities.ts";
import type { TrafficModel } from "../model/traffic-model.ts";
import type { TrafficTask } from "../model/traffic-task.ts";
import type { TokenUsage } from "../prices/token-usage.ts";
import { countMarks } from "./count-marks.ts";
import { reconstructTask } from "./reconstruct-task.ts";
import { computeTotalUsage, listChildTasks } from "./render-record-text.ts";

/** The facts about a task that a comparison shows. */
export interface TaskSummary {
  readonly id: string;
  readonly agent: string;
  readonly state: string | undefined;
  readonly durationMs: number;
  /** Changes of the state, for example `TASK_STATE_WORKING`, in the order of time. */
  readonly states: readonly string[];
  readonly events: number;
  /** Number of marks by kind, for example `cut`. Several observations of a request count once. */
  readonly marks: Readonly<Record<string, number>>;
  /** Usage of the task and of all tasks that its agent started. */
  readonly usage: TokenUsage;
  /** Names of the agents that the agent called, in the order of the calls. */
  readonly calledAgents: readonly string[];
  readonly toolCalls: readonly string[];
  /** Text of each artifact by artifact id. */
  readonly artifacts: Readonly<Record<string, string>>;
}

/** Two tasks, and the names of the members in which they differ. */
export interface TaskComparison {
  readonly first: TaskSummary;
  readonly second: TaskSummary;
  /** Names of the members with different values. Ids and durations are not compared. */
  readonly differences: readonly Exclude<keyof TaskSummary, "id" | "durationMs">[];
}

/** Summarizes a task for a comparison. */
export function summarizeTask(model: TrafficModel, task: TrafficTask): TaskSummary {
  const { startMs, endMs } = getTaskPeriod(task);
  const artifacts = reconstructTask(task)?.artifacts ?? [];
  return {
    id: task.id,
    agent: task.agent ?? "agent",
    state: task.state,
    durationMs: endMs - startMs,
    states: task.stateChanges.map(({ state }) => state),
    events: task.entries.filter(({ line }) => line.kind === "event").length,
    marks: countMarks(model, task),
    usage: computeTotalUsage(model, task),
    calledAgents: listChildTasks(model, task.key).map(({ agent = "agent" }) => agent),
    toolCalls: task.toolCalls.map(({ line }) => line.tool),
    artifacts: Object.fromEntries(artifacts.map(({ artifactId, parts }) => [artifactId, getText(parts)])),
  };
}

/** Compares two tasks, which may be of different records. */
export function compareTasks(first: TaskSummary, second: TaskSummary): TaskComparison {
  const names = [
    "agent",
    "state",
    "states",
    "events",
    "marks",
    "usage",
    "calledAgents",
    "toolCalls",
    "artifacts",
  ] as const;
  const differences = names.filter((name) => JSON.stringify(first[name]) !== JSON.stringify(second[name]));
  return { first, second, differences };
}
