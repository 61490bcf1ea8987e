import { isObject, type JsonValue, type TaskState } from "../../protocol/index.ts";
import {
  decodeTrafficLine,
  getTaskPeriod,
  loadTrafficModel,
  type TrafficModel,
  type TrafficTask,
} from "../../observe/trace/index.ts";
import type { PositionedTask, TaskListFilter, TaskListing } from "./agent-source.ts";
import type { LineJournal } from "./line-journal.ts";

/** Returns the model of a journal. Builds a new model only after a change. */
export function createJournalModelReader(journal: LineJournal): () => TrafficModel {
  let built: { readonly cursor: number; readonly model: TrafficModel } | undefined;
  return () => {
    if (built?.cursor !== journal.lastCursor) {
      const lines = [...journal.entriesAfter(0)].map(({ text }) => decodeTrafficLine(text));
      built = { cursor: journal.lastCursor, model: loadTrafficModel(lines).model };
    }
    return built.model;
  };
}

/** Lists the tasks that a journal contains, for agents that cannot list their tasks and for records. */
export function createObservedTaskListing(
  agentId: string,
  readModel: () => TrafficModel,
  isTaskOfAgent: (task: TrafficTask) => boolean,
): TaskListing {
  return {
    id: agentId,
    searchesText: false,
    hasAgent: (id) => id === agentId,
    list: async (filter, position, limit) => {
      const tasks = [...readModel().tasks.values()]
        .filter(isTaskOfAgent)
        .map((task) => toPositionedTask(task, agentId))
        .filter((task) => matchesFilter(task, filter) && isAfterPosition(task, position))
        .toSorted((a, b) => (isAfterPosition(b, a.position) ? -1 : 1));
      return { tasks: tasks.slice(0, limit), hasMore: tasks.length > limit };
    },
  };
}

function toPositionedTask(task: TrafficTask, agent: string): PositionedTask {
  const { startMs, endMs } = getTaskPeriod(task);
  const updatedAt = new Date(endMs).toISOString();
  return {
    position: [updatedAt, task.id],
    summary: {
      agent,
      id: task.id,
      contextId: task.contextId ?? "",
      state: (task.state ?? "TASK_STATE_UNSPECIFIED") as TaskState,
      updatedAt,
      createdAt: new Date(startMs).toISOString(),
      preview: findFirstText(task),
    },
  };
}

function matchesFilter({ summary }: PositionedTask, { state, context, from, to }: TaskListFilter): boolean {
  return (
    (state === undefined || summary.state === state) &&
    (context === undefined || summary.contextId === context) &&
    (from === undefined || Date.parse(summary.updatedAt) >= Date.parse(from)) &&
    (to === undefined || Date.parse(summary.updatedAt) <= Date.parse(to))
  );
}

/** Returns whether a task comes after a position in a list with the newest task first. */
function isAfterPosition({ summary }: PositionedTask, position: JsonValue | undefined): boolean {
  if (!Array.isArray(position)) return true;
  const [updatedAt, id] = position;
  if (typeof updatedAt !== "string" || typeof id !== "string") return true;
  return summary.updatedAt < updatedAt || (summary.updatedAt === updatedAt && summary.id > id);
}

const PREVIEW_LENGTH = 200;

/** Returns the beginning of the first text that the lines of a task contain. */
function findFirstText(task: TrafficTask): string {
  for (const { line } of task.entries) {
    const content = "event" in line ? line.event : "body" in line ? line.body : undefined;
    const text = findText(content);
    if (text !== undefined) return text.slice(0, PREVIEW_LENGTH).toWellFormed().replaceAll(/\s+/g, " ");
  }
  return "";
}

/** Returns the `text` of the first part in the JSON of a request or an event. */
function findText(value: JsonValue | undefined): string | undefined {
  if (!isObject(value) && !Array.isArray(value)) return undefined;
  if (isObject(value) && typeof value["text"] === "string") return value["text"];
  for (const member of Object.values(value)) {
    const text = findText(member);
    if (text !== undefined) return text;
  }
  return undefined;
}
