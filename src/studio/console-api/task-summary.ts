import { isObject, type JsonValue, type TaskState } from "../../protocol/index.ts";
import {
  getTaskPeriod,
  type TokenUsage,
  type TrafficModel,
  type TrafficTask,
} from "../../observe/trace/index.ts";

/** Query parameters of `GET tasks`. Times are in ISO 8601 format. */
export interface ConsoleTaskQuery {
  /** Id of an agent. Default: all agents. */
  readonly agent?: string;
  /** A2A 1.0 state, for example `TASK_STATE_WORKING`. */
  readonly state?: TaskState;
  readonly context?: string;
  /** Words that the messages or artifacts contain. Agents that are not searchable find nothing. */
  readonly text?: string;
  /** Earliest time of the status, inclusive. */
  readonly from?: string;
  /** Latest time of the status, inclusive. */
  readonly to?: string;
  readonly pageToken?: string;
  /** Default: 50. Maximum: 200. */
  readonly pageSize?: number;
}

/** A row of the task list, newest status first. */
export interface ConsoleTaskSummary {
  /** Id of the agent. */
  readonly agent: string;
  readonly id: string;
  readonly contextId: string;
  readonly state: TaskState;
  /** Time of the status. */
  readonly updatedAt: string;
  readonly createdAt?: string;
  /** Number of events in the log of the task, if known. */
  readonly events?: number;
  /** Tokens and prices of the model calls that the console observed. Missing if it observed none. */
  readonly usage?: TokenUsage;
  /** Beginning of a message of the task, at most 200 characters. Unsafe text from strangers. */
  readonly preview: string;
  /** Whether `preview` is a message of the agent, because the console has not observed the first message. */
  readonly isReply?: boolean;
  /** The task that started this task, if the console observed it. */
  readonly parent?: { readonly agent?: string; readonly id: string };
  /** Caller that owns the task, as `tenant/principal` or `principal`. Only for operators. */
  readonly caller?: string;
}

/** Returns the row of a task that a record contains. `agent` is the id of its agent. */
export function summarizeObservedTask(
  task: TrafficTask,
  agent: string,
  model: TrafficModel,
): ConsoleTaskSummary {
  const parent = model.tasks.get(model.findParentTaskKey(task.key) ?? "");
  const { startMs, endMs } = getTaskPeriod(task);
  const question = findQuestion(task);
  const reply = question === undefined ? findFirstText(task) : undefined;
  return {
    agent,
    id: task.id,
    contextId: task.contextId ?? "",
    state: (task.state ?? "TASK_STATE_UNSPECIFIED") as TaskState,
    createdAt: new Date(startMs).toISOString(),
    updatedAt: new Date(endMs).toISOString(),
    ...(task.loggedNumbers.highest > 0 && { events: task.loggedNumbers.highest }),
    ...(task.usage.calls > 0 && { usage: task.usage }),
    ...(parent && { parent: { id: parent.id, ...(parent.agent !== undefined && { agent: parent.agent }) } }),
    preview: question ?? reply ?? "",
    ...(reply !== undefined && { isReply: true }),
  };
}

/** Returns whether a row matches a query, except for its text. */
export function matchesTaskQuery(
  summary: ConsoleTaskSummary,
  { agent, state, context, from, to }: ConsoleTaskQuery,
): boolean {
  return (
    (agent === undefined || summary.agent === agent) &&
    (state === undefined || summary.state === state) &&
    (context === undefined || summary.contextId === context) &&
    (from === undefined || Date.parse(summary.updatedAt) >= Date.parse(from)) &&
    (to === undefined || Date.parse(summary.updatedAt) <= Date.parse(to))
  );
}

const PREVIEW_LENGTH = 200;

/** Returns the beginning of the message that started a task, if the lines contain it. */
export function findQuestion(task: TrafficTask | undefined): string | undefined {
  return task && findFirstText(task, ({ kind, log_seq }) => kind === "request" || log_seq === 1);
}

/** Returns the beginning of the first text that the lines of a task contain. */
function findFirstText(
  task: TrafficTask,
  includes: (line: { readonly kind: string; readonly log_seq?: number }) => boolean = () => true,
): string | undefined {
  for (const { line } of task.entries) {
    if (!includes(line)) continue;
    const content = "event" in line ? line.event : "body" in line ? line.body : undefined;
    const text = findText(content);
    if (text !== undefined) return text.slice(0, PREVIEW_LENGTH).toWellFormed().replaceAll(/\s+/g, " ");
  }
  return undefined;
}

/** Returns the first `text` in the JSON of a request or an event. The search is iterative, because strangers nest deeply. */
function findText(content: JsonValue | undefined): string | undefined {
  const open = [content];
  while (open.length > 0) {
    const value = open.pop();
    if (!isObject(value) && !Array.isArray(value)) continue;
    if (isObject(value) && typeof value["text"] === "string") return value["text"];
    for (const member of Object.values(value).toReversed()) open.push(member);
  }
  return undefined;
}
