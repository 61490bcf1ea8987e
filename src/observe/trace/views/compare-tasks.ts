import type { Part } from "../../../protocol/index.ts";
import { getTaskDuration } from "../model/task-activities.ts";
import type { TrafficModel } from "../model/traffic-model.ts";
import { buildTrafficSequence, type SequenceItem } from "../model/traffic-sequence.ts";
import type { TrafficTask } from "../model/traffic-task.ts";
import type { TokenUsage } from "../prices/token-usage.ts";
import { countMarks } from "./count-marks.ts";
import { reconstructTask } from "./reconstruct-task.ts";
import { computeTotalUsage, listTaskFamily } from "./render-record-text.ts";

/** The facts about a task that a comparison shows. */
export interface TaskSummary {
  readonly id: string;
  readonly agent: string;
  readonly state: string | undefined;
  readonly durationMs: number;
  /** Changes of the state, for example `TASK_STATE_WORKING`, in the order of time. */
  readonly states: readonly string[];
  /** Number of events in the log of the server, or `undefined` if the record does not contain the log. */
  readonly events: number | undefined;
  /** Number of marks by kind, for example `cut`. Several observations of a request count once. */
  readonly marks: Readonly<Record<string, number>>;
  /** Usage of the task and of all tasks that its agent started. */
  readonly usage: TokenUsage;
  /** Names of the agents that worked on tasks which this task started, directly or through other tasks. */
  readonly calledAgents: readonly string[];
  readonly toolCalls: readonly string[];
  /** Text of each artifact by artifact id. Parts that are no text are JSON. */
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
  const artifacts = reconstructTask(task)?.artifacts ?? [];
  return {
    id: task.id,
    agent: task.agent ?? "agent",
    state: task.state,
    durationMs: getTaskDuration(task),
    states: task.stateChanges.map(({ state }) => state),
    events: task.loggedNumbers.highest || undefined,
    marks: countMarks(model, task),
    usage: computeTotalUsage(model, task),
    calledAgents: listTaskFamily(model, task)
      .filter((one) => one !== task)
      .map(({ agent = "agent" }) => agent),
    toolCalls: task.toolCalls.map(({ line }) => line.tool),
    artifacts: Object.fromEntries(artifacts.map(({ artifactId, parts }) => [artifactId, formatParts(parts)])),
  };
}

function formatParts(parts: readonly Part[]): string {
  return parts.map((part) => ("text" in part ? part.text : JSON.stringify(part, undefined, 2))).join("");
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

/** Largest number of messages of a task that are aligned. The time grows with the product of both numbers. */
export const MAX_ALIGNED_MESSAGES = 3_000;

/** Two messages that correspond to each other, or a message of only one of the tasks. */
export interface AlignedMessages {
  readonly first?: SequenceItem;
  readonly second?: SequenceItem;
  /** Whether both messages exist and have the same label. */
  readonly isEqual: boolean;
}

/** Returns the messages of a task, and of all tasks that it started, in the order of time. */
export function listTaskSequence(model: TrafficModel, task: TrafficTask): readonly SequenceItem[] {
  return buildTrafficSequence(model, new Set(listTaskFamily(model, task).map(({ key }) => key))).items;
}

/**
 * Aligns the messages of two tasks. Messages with the same kind, parties, and label correspond to each other, if their
 * order is the same. A message that only one task has, and a message of the same kind at the same position of the other
 * task, form a changed pair. Considers the first 3,000 messages of each task.
 */
export function alignTaskSequences(
  first: readonly SequenceItem[],
  second: readonly SequenceItem[],
): readonly AlignedMessages[] {
  const [a, b] = [first, second].map((items) => items.slice(0, MAX_ALIGNED_MESSAGES)) as [
    SequenceItem[],
    SequenceItem[],
  ];
  const [keysA, keysB] = [a.map(formatKey), b.map(formatKey)];
  const countCommon = createCommonCounter(keysA, keysB);
  const aligned: AlignedMessages[] = [];
  let removed: SequenceItem[] = [];
  let at = 0;
  const flushRemoved = (): void => {
    for (const item of removed) aligned.push({ first: item, isEqual: false });
    removed = [];
  };
  for (const [position, item] of b.entries()) {
    // Messages that the second task lacks precede the next common message.
    while (
      at < a.length &&
      keysA[at] !== keysB[position] &&
      countCommon(at + 1, position) === countCommon(at, position)
    )
      removed.push(a[at++] as SequenceItem);
    if (keysA[at] === keysB[position]) {
      flushRemoved();
      aligned.push({ first: a[at++] as SequenceItem, second: item, isEqual: true });
      continue;
    }
    const [candidate] = removed;
    const isChange =
      candidate?.kind === item.kind && candidate.from === item.from && candidate.to === item.to;
    if (isChange) removed.shift();
    aligned.push({ ...(isChange && { first: candidate }), second: item, isEqual: false });
  }
  removed.push(...a.slice(at));
  flushRemoved();
  return aligned;
}

/** Returns a function that counts the common elements of both lists from two positions on, in the same order. */
function createCommonCounter(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const width = b.length + 1;
  const counts = new Uint16Array((a.length + 1) * width);
  const count = (i: number, j: number): number => counts[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      counts[i * width + j] =
        a[i] === b[j] ? count(i + 1, j + 1) + 1 : Math.max(count(i + 1, j), count(i, j + 1));
  return count;
}

function formatKey({ kind, from, to, label }: SequenceItem): string {
  return JSON.stringify([kind, from, to, label]);
}
