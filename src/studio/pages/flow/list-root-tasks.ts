import type { TrafficModel, TrafficTask } from "../../../observe/trace/index.ts";

/** Lists the tasks that no other task started, newest first. */
export function listRootTasks(model: TrafficModel): readonly TrafficTask[] {
  return [...model.tasks.values()]
    .filter(({ key }) => model.findParentTaskKey(key) === undefined)
    .toSorted((a, b) => b.startMs - a.startMs || (a.key < b.key ? -1 : 1));
}
