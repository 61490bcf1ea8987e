import type { ConsoleSession } from "../../console-api/index.ts";
import { RunModel } from "../cards/model/run-model.ts";
import { createRunView } from "../cards/run-view.ts";
import type { PageData } from "../page-data.ts";
import { LineMemory } from "./line-memory.ts";
import { type TrafficSource, TrafficSourceError } from "./traffic-source.ts";

/** Creates a source from the lines that a one-file export contains. */
export function createRecordSource(data: Extract<PageData, { mode: "record" }>): TrafficSource {
  const memory = new LineMemory();
  memory.append(data.lines);
  const run = data.cards ? RunModel.fromRunData(data.cards) : new RunModel();
  for (const line of data.lines) run.add(line);
  return {
    ...createMemorySource(memory, createRecordSession(data)),
    ...(!run.isEmpty && { cardRun: createRunView(data.name, run), hasOnlyCards: data.lines.length === 0 }),
    watchLines: (onLines, onConnection) => {
      onLines(data.lines);
      onConnection?.({ state: "ended" });
      return () => undefined;
    },
  };
}

/** Describes a record, which shows everything and accepts no requests. */
export function createRecordSession({
  name,
  version,
}: {
  readonly name: string;
  readonly version: string;
}): ConsoleSession {
  return {
    mode: "file",
    name,
    version,
    canAct: false,
    isOperator: true,
    canSignOut: false,
    features: { addsAgents: false, acceptsCredentials: false, receivesPush: false, searchesText: true },
  };
}

/** Creates the reading half of a source from lines in memory. */
export function createMemorySource(
  memory: LineMemory,
  session: ConsoleSession,
): Omit<TrafficSource, "watchLines"> {
  return {
    session,
    listAgents: async () => memory.listAgents(),
    readCard: async (agentId) => memory.readCard(agentId),
    listTasks: async (query) => memory.listTasks(query),
    readTask: async (_agentId, taskId) => {
      const task = memory.buildTask(taskId);
      if (task === undefined)
        throw new TrafficSourceError("TASK_NOT_FOUND", `The record contains no task ${taskId}.`);
      return task;
    },
    async *readLines(_agentId, taskId) {
      yield memory.listTaskLines(taskId);
    },
  };
}
