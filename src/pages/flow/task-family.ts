import type { TrafficModel, TrafficTask } from "../../trace/index.ts";

/** Maps each task to the tasks that were started during the task, and lists the tasks that no other task started. */
interface TaskTree {
  readonly childKeys: ReadonlyMap<string, readonly string[]>;
  readonly roots: readonly TrafficTask[];
}

/** Builds the tree of all tasks of a record. Roots are sorted by time, newest first. */
export function buildTaskTree(model: TrafficModel): TaskTree {
  const childKeys = new Map<string, string[]>();
  const startedKeys = new Set<string>();
  for (const { taskKey, parentTaskKey } of model.exchanges) {
    if (taskKey === undefined || parentTaskKey === undefined || taskKey === parentTaskKey) continue;
    if (startedKeys.has(taskKey)) continue;
    startedKeys.add(taskKey);
    const children = childKeys.get(parentTaskKey);
    if (children) children.push(taskKey);
    else childKeys.set(parentTaskKey, [taskKey]);
  }
  const roots = [...model.tasks.values()]
    .filter(({ key }) => !startedKeys.has(key))
    .toSorted((a, b) => b.startMs - a.startMs || (a.key < b.key ? -1 : 1));
  return { childKeys, roots };
}

/** Returns the keys of a task and of all tasks that were started because of it. */
export function listTaskFamily({ childKeys }: TaskTree, rootKey: string): ReadonlySet<string> {
  const family = new Set([rootKey]);
  // The loop visits the keys that it adds.
  for (const key of family) for (const child of childKeys.get(key) ?? []) family.add(child);
  return family;
}
