import type { ChaosFault } from "../chaos-fault.ts";
import { findTaskLogProblems } from "../check-task-log.ts";
import { ObservedTask } from "../observed-task.ts";

const TASKS = 40;
const EVENTS_PER_CONNECTION = 7;
const SCRIPT = { chunks: 80, intervalMs: 40 };

export const fault: ChaosFault = {
  title: "40 clients break their stream every 7 events, and resume on the other node with Last-Event-ID",
  promise: "No event is lost, and none arrives twice.",
  maxSeconds: 120,
  bars: { silences: 0, notCompleted: 0 },
  async inject({ startNode, addFigure, addProblem }) {
    const nodes = [await startNode({ leaseMs: 15_000 }), await startNode({ leaseMs: 15_000 })];
    const signal = AbortSignal.timeout(80_000);
    const tasks = Array.from(
      { length: TASKS },
      (_, at) => new ObservedTask(`reconnect-${at}`, "fail", SCRIPT),
    );
    await Promise.all(
      tasks.map((task, number) =>
        task.follow({
          chooseAgentUrl: () => nodes[(number + task.connections) % 2]?.getAgentUrl("fail") ?? "",
          eventsPerConnection: EVENTS_PER_CONNECTION,
          signal,
        }),
      ),
    );
    for (const [at, task] of tasks.entries()) {
      const url = nodes[at % 2]?.getAgentUrl("fail") ?? "";
      for (const problem of await findTaskLogProblems(url, task)) addProblem(problem);
    }
    addFigure("tasks", TASKS);
    addFigure(
      "reconnects",
      tasks.reduce((sum, { connections }) => sum + connections - 1, 0),
    );
    addFigure("notCompleted", tasks.filter(({ finalState }) => finalState !== "TASK_STATE_COMPLETED").length);
    addFigure(
      "silences",
      tasks.reduce((sum, { silences }) => sum + silences, 0),
    );
  },
};
