import {
  computeTaskCriticalPath,
  type CriticalPathStep,
  listTaskFamily,
  type TrafficExchange,
  type TrafficModel,
  type TrafficTask,
} from "../../../observe/trace/index.ts";

/** The part of the traffic that the screen Flow shows. */
export interface FlowAnalysis {
  readonly model: TrafficModel;
  /** Tasks that no other task started, newest first. */
  readonly roots: readonly TrafficTask[];
  /** The chosen task, or `undefined` for all traffic and for an unknown task. */
  readonly task: TrafficTask | undefined;
  /** Keys of the chosen task and of the tasks that it started, or `undefined` for all traffic. */
  readonly taskKeys: ReadonlySet<string> | undefined;
  /** The shown tasks in the order of time. */
  readonly tasks: readonly TrafficTask[];
  readonly exchanges: readonly TrafficExchange[];
  /** The task of the critical path: the chosen task, or the newest root. */
  readonly pathTask: TrafficTask | undefined;
  readonly path: readonly CriticalPathStep[];
}

/** Chooses the part of the traffic that belongs to a task: all traffic without `taskId`, and none for an unknown task. */
export function analyzeFlow(model: TrafficModel, taskId: string | undefined): FlowAnalysis {
  const roots = listRootTasks(model);
  const task = taskId === undefined ? undefined : model.findTask(taskId);
  const taskKeys =
    taskId === undefined ? undefined : new Set(task && listTaskFamily(model, task).map(({ key }) => key));
  const tasks = [...model.tasks.values()]
    .filter(({ key }) => taskKeys === undefined || taskKeys.has(key))
    .toSorted((a, b) => a.startMs - b.startMs);
  const pathTask = taskId === undefined ? roots[0] : task;
  return {
    model,
    roots,
    task,
    taskKeys,
    tasks,
    exchanges: model.exchanges.filter(({ taskKey = "" }) => taskKeys === undefined || taskKeys.has(taskKey)),
    pathTask,
    path: pathTask ? computeTaskCriticalPath(model, pathTask) : [],
  };
}

/** Lists the tasks that no other task started, newest first. Requests can name a task that does not exist. */
function listRootTasks(model: TrafficModel): readonly TrafficTask[] {
  return [...model.tasks.values()]
    .filter((task) => isObserved(task) && model.findParentTaskKey(task.key) === undefined)
    .toSorted((a, b) => b.startMs - a.startMs || (a.key < b.key ? -1 : 1));
}

function isObserved({ state, turns, modelCalls, toolCalls }: TrafficTask): boolean {
  return state !== undefined || turns.length + modelCalls.length + toolCalls.length > 0;
}
