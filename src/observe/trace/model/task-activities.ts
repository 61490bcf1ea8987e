import { isInterrupted, isTerminal, TASK_STATES, type TaskState } from "../../../protocol/index.ts";
import type { TrafficExchange } from "./traffic-exchange.ts";
import type { TrafficModel } from "./traffic-model.ts";
import { CLOCK_TOLERANCE_MS, type TaskStateChange, type TrafficTask } from "./traffic-task.ts";

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

/**
 * The period of a task, from its first state to its last one. An open task lasts until its latest line. If the record does
 * not contain the begin of the task's log, the period starts with the first line, such as the request.
 */
export function getTaskPeriod(task: TrafficTask): { readonly startMs: number; readonly endMs: number } {
  const changes = task.stateChanges;
  const [first, last] = [changes[0], changes.at(-1)];
  const startMs = first?.logSeq === 1 ? first.timeMs : task.startMs;
  const isOver = last !== undefined && isKnownState(last.state) && isTerminal(last.state);
  return { startMs, endMs: Math.max(isOver ? last.timeMs : task.lastMs, startMs) };
}

/** The time from the first message of a task to its end, in milliseconds. */
export function getTaskDuration(task: TrafficTask): number {
  const { startMs, endMs } = getTaskPeriod(task);
  return endMs - startMs;
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
  return (
    activities
      .map((activity) => ({
        ...activity,
        startMs: Math.min(Math.max(activity.startMs, startMs), endMs),
        endMs: Math.min(Math.max(activity.endMs, startMs), endMs),
      }))
      // A shorter queue is not longer than the difference of the clocks of the log and of the turns.
      .filter(({ kind, startMs: from, endMs: to }) => to - from > (kind === "queue" ? CLOCK_TOLERANCE_MS : 0))
      .toSorted((a, b) => a.startMs - b.startMs || b.endMs - a.endMs || (a.name < b.name ? -1 : 1))
  );
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
  const turnStarts = listObservedTurns(task).map(({ startMs }) => startMs);
  return changes.flatMap((change, at): TaskActivity[] => {
    const { state, timeMs } = change;
    const endMs = changes[at + 1]?.timeMs ?? taskEndMs;
    if (state === "TASK_STATE_SUBMITTED") {
      const startOfTurn = turnStarts.find((turnMs) => turnMs <= endMs);
      // An agent may be at work without reporting it, so that only a turn or the state WORKING ends the queue.
      const isInQueue = startOfTurn !== undefined || changes[at + 1]?.state === "TASK_STATE_WORKING";
      return isInQueue ? [{ kind: "queue", name: "", startMs: timeMs, endMs: startOfTurn ?? endMs }] : [];
    }
    if (!isKnownState(state) || !isInterrupted(state)) return [];
    // The agent works on the answer before it reports another state, which can be at the end of its turn.
    const answerMs = Math.min(endMs, ...listLaterMessageTimes(task, change));
    const turnMs = turnStarts.find((startMs) => startMs > answerMs && startMs <= endMs) ?? answerMs;
    return [
      { kind: "user", name: "", startMs: timeMs, endMs: answerMs },
      { kind: "queue", name: "", startMs: answerMs, endMs: turnMs },
    ];
  });
}

/** Lists when messages reached a task after a state: in the log of the server, or else as a client sent them. */
function listLaterMessageTimes(task: TrafficTask, { timeMs, logSeq }: TaskStateChange): number[] {
  if (logSeq === undefined)
    return [...task.calls].flatMap(({ messageId, request }) =>
      messageId !== undefined && request && request.timeMs > timeMs ? request.timeMs : [],
    );
  return [...task.unsentNumbers].flatMap((seq) =>
    seq > logSeq ? (task.findLoggedEvent(seq)?.timeMs ?? []) : [],
  );
}

function isKnownState(state: string): state is TaskState {
  return (TASK_STATES as readonly string[]).includes(state);
}
