import type { JsonValue } from "../../protocol/index.ts";
import {
  decodeTrafficLine,
  loadTrafficModel,
  type TrafficModel,
  type TrafficTask,
} from "../../observe/trace/index.ts";
import { matchesTaskQuery, summarizeObservedTask } from "../console-api/index.ts";
import type { PositionedTask, TaskListing } from "./agent-source.ts";
import type { LineJournal } from "./line-journal.ts";

/** Returns the model of a journal, which grows with the journal. Builds a new model after the loss of lines. */
export function createJournalModelReader(journal: LineJournal): () => TrafficModel {
  let built: { readonly cursor: number; readonly lost: number; readonly model: TrafficModel } | undefined;
  return () => {
    const lost = journal.countLostLines(0);
    const added = [...journal.entriesAfter(built?.cursor ?? 0)];
    // The clock of a new writer may differ from the others.
    const isGrown = built?.lost === lost && !added.some(({ kind }) => kind === "writer");
    const entries = isGrown ? added : journal.entriesAfter(0);
    const lines = Array.from(entries, ({ text }) => decodeTrafficLine(text));
    const model = isGrown && built ? built.model : loadTrafficModel(lines).model;
    if (isGrown) for (const decoded of lines) if (decoded.type === "traffic") model.add(decoded.line);
    built = { cursor: journal.lastCursor, lost, model };
    return model;
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
      const model = readModel();
      const tasks = [...model.tasks.values()]
        .filter(isTaskOfAgent)
        .map((task) => summarizeObservedTask(task, agentId, model))
        .map((summary): PositionedTask => ({ position: [summary.updatedAt, summary.id], summary }))
        .filter((task) => matchesTaskQuery(task.summary, filter) && isAfterPosition(task, position))
        .toSorted((a, b) => (isAfterPosition(b, a.position) ? -1 : 1));
      return { tasks: tasks.slice(0, limit), hasMore: tasks.length > limit };
    },
  };
}

/** Returns whether a task comes after a position in a list with the newest task first. */
function isAfterPosition({ summary }: PositionedTask, position: JsonValue | undefined): boolean {
  if (!Array.isArray(position)) return true;
  const [updatedAt, id] = position;
  if (typeof updatedAt !== "string" || typeof id !== "string") return true;
  return summary.updatedAt < updatedAt || (summary.updatedAt === updatedAt && summary.id < id);
}
