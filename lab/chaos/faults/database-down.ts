import { setTimeout as pause } from "node:timers/promises";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { findTasksOfDeadNodes } from "../stored-tasks.ts";
import { countTakeovers } from "../systems/chaos-system.ts";

const LEASE_MS = 2000;
const OUTAGE_MS = 4 * LEASE_MS;

export const fault: ChaosFault = {
  title: "the database is down for four leases",
  promise: "New messages are refused. Afterwards, each task goes on, or is settled by its policy within 5 s.",
  maxSeconds: 120,
  bars: { tasksOfDeadNodes: 0, firstEventAfterMs: 5000, lastRecoveryAfterMs: 5000 },
  async inject({ database, postgres, startNode, addFigure, addProblem }) {
    const nodes = [await startNode({ leaseMs: LEASE_MS }), await startNode({ leaseMs: LEASE_MS })];
    const load = new ChaosLoad({
      clients: 12,
      script: { chunks: 100, intervalMs: 30 },
      getNodes: () => nodes,
      silenceMs: LEASE_MS + 3000,
    });
    await pause(2000);
    await postgres.stop("fast");
    const interrupted = load.tasks.filter(({ finalState, taskId }) => taskId && finalState === undefined);
    await pause(OUTAGE_MS);
    await postgres.start();
    const startedAt = performance.now();
    const seqs = interrupted.map(({ lastSeq }) => lastSeq);
    const isMoving = (task: (typeof interrupted)[number], at: number): boolean =>
      task.lastSeq > (seqs[at] ?? 0);
    while (!interrupted.some(isMoving) && performance.now() - startedAt < 10_000) await pause(10);
    addFigure("firstEventAfterMs", performance.now() - startedAt);
    while (!interrupted.every(isMoving) && performance.now() - startedAt < 10_000) await pause(10);
    addFigure("lastRecoveryAfterMs", performance.now() - startedAt);
    await load.end(30_000);
    for (const problem of await load.findProblems()) addProblem(problem);
    addFigure("interruptedTasks", interrupted.length);
    addFigure("tasks", load.tasks.length);
    addFigure("failed", load.countTasks("TASK_STATE_FAILED"));
    addFigure("takenOver", countTakeovers(nodes));
    addFigure("silences", load.countSilences());
    addFigure("tasksOfDeadNodes", (await findTasksOfDeadNodes(database)).length);
  },
};
