import type { TrafficModel, TrafficTask } from "../../../observe/trace/index.ts";

/** Lists the tasks that no other task started, newest first. Requests can name a task that does not exist. */
export function listRootTasks(model: TrafficModel): readonly TrafficTask[] {
  return [...model.tasks.values()]
    .filter((task) => isObserved(task) && model.findParentTaskKey(task.key) === undefined)
    .toSorted((a, b) => b.startMs - a.startMs || (a.key < b.key ? -1 : 1));
}

function isObserved({ state, turns, modelCalls, toolCalls }: TrafficTask): boolean {
  return state !== undefined || turns.length + modelCalls.length + toolCalls.length > 0;
}
