import { isInterrupted, isTerminal, TASK_STATES, type TaskState } from "../../../protocol/index.ts";
import type { TrafficExchange } from "./traffic-exchange.ts";
import type { TrafficModel } from "./traffic-model.ts";
import type { TrafficTask } from "./traffic-task.ts";

/** A period in which a task waited for something outside of its agent. */
export interface TaskActivity {
  /**
   * `agent`: a request to another agent. `model`: a call to a language model, and `retry`: the time before the model
   * answered, because earlier attempts failed. `tool`: a call of a tool. `user`: the task waited for its user.
   * `queue`: the task waited for the start of its turn.
   */
  readonly kind: "agent" | "model" | "retry" | "tool" | "user" | "queue";
  /** Name of the agent, the model, or the tool. Empty for users and queues. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Task that the other agent worked on. */
  readonly taskKey?: string;
}

/** The period of a task, from its first message to its end. An open task lasts until its latest line. */
export function getTaskPeriod(task: TrafficTask): { readonly startMs: number; readonly endMs: number } {
  const last = task.stateChanges.at(-1);
  const isOver = last !== undefined && isKnownState(last.state) && isTerminal(last.state);
  return { startMs: task.startMs, endMs: isOver ? Math.max(last.timeMs, task.startMs) : task.lastMs };
}

/** Lists the periods in which the server's record shows the agent at work. An open turn has no end. */
export function listObservedTurns({ turns }: TrafficTask): { startMs: number; endMs: number }[] {
  const periods: { startMs: number; endMs: number }[] = [];
  for (const { line, timeMs } of turns.toSorted((a, b) => a.timeMs - b.timeMs)) {
    if (line.phase === "begin") periods.push({ startMs: timeMs, endMs: Infinity });
    else if (periods.at(-1)?.endMs === Infinity) (periods.at(-1) as { endMs: number }).endMs = timeMs;
  }
  return periods;
}

/** Lists what a task waited for, in the order of the starts. Waits of one task may overlap. */
export function listTaskActivities(model: TrafficModel, task: TrafficTask): TaskActivity[] {
  const { startMs, endMs } = getTaskPeriod(task);
  const activities: TaskActivity[] = [
    ...groupChildExchanges(model, task.key),
    ...task.modelCalls.flatMap(({ line, timeMs }): TaskActivity[] => {
      const waitMs = (line.attempts ?? []).reduce((sum, { wait_ms = 0 }) => sum + wait_ms, 0);
      const begin = timeMs - line.duration_ms;
      const retries: TaskActivity[] =
        waitMs > 0 ? [{ kind: "retry", name: line.model, startMs: begin, endMs: begin + waitMs }] : [];
      return [...retries, { kind: "model", name: line.model, startMs: begin + waitMs, endMs: timeMs }];
    }),
    ...task.toolCalls.map(({ line, timeMs }): TaskActivity => {
      const name = line.server === undefined ? line.tool : `${line.server}/${line.tool}`;
      return { kind: "tool", name, startMs: timeMs - line.duration_ms, endMs: timeMs };
    }),
    ...listStateWaits(task, endMs),
  ];
  return activities
    .map((activity) => ({
      ...activity,
      startMs: Math.min(Math.max(activity.startMs, startMs), endMs),
      endMs: Math.min(Math.max(activity.endMs, startMs), endMs),
    }))
    .filter((activity) => activity.endMs > activity.startMs)
    .toSorted((a, b) => a.startMs - b.startMs || b.endMs - a.endMs || (a.name < b.name ? -1 : 1));
}

/** Requests to one child task are one wait, from the first message to the end of the last response or of the task. */
function groupChildExchanges(model: TrafficModel, parentKey: string): TaskActivity[] {
  const byTask = Map.groupBy(
    model.listExchangesDuring(parentKey),
    ({ taskKey, key }) => taskKey ?? `\n${key}`,
  );
  return [...byTask.values()].map((group): TaskActivity => {
    const [first] = group as [TrafficExchange, ...TrafficExchange[]];
    const child = model.tasks.get(first.taskKey ?? "");
    const childEnd = child ? getTaskPeriod(child).endMs : first.startMs;
    return {
      kind: "agent",
      name: first.to,
      startMs: first.startMs,
      endMs: Math.max(...group.map(({ endMs }) => endMs ?? childEnd)),
      ...(first.taskKey !== undefined && { taskKey: first.taskKey }),
    };
  });
}

function listStateWaits(task: TrafficTask, taskEndMs: number): TaskActivity[] {
  const changes = task.stateChanges;
  return changes.flatMap(({ state, timeMs }, at): TaskActivity[] => {
    const endMs = changes[at + 1]?.timeMs ?? taskEndMs;
    if (state === "TASK_STATE_SUBMITTED") {
      const startOfTurn = task.turns.find(
        (turn) => turn.line.phase === "begin" && turn.timeMs <= endMs,
      )?.timeMs;
      // An agent may be at work without reporting it, so that only a turn or the state WORKING ends the queue.
      const isInQueue = startOfTurn !== undefined || changes[at + 1]?.state === "TASK_STATE_WORKING";
      return isInQueue ? [{ kind: "queue", name: "", startMs: timeMs, endMs: startOfTurn ?? endMs }] : [];
    }
    if (isKnownState(state) && isInterrupted(state))
      return [{ kind: "user", name: "", startMs: timeMs, endMs }];
    return [];
  });
}

function isKnownState(state: string): state is TaskState {
  return (TASK_STATES as readonly string[]).includes(state);
}
