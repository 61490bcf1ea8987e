import { setTimeout as pause } from "node:timers/promises";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { countTakeovers } from "../systems/chaos-system.ts";
import { findTasksOfDeadNodes } from "../stored-tasks.ts";

export const fault: ChaosFault = {
  title: "crash and restart of the database (`pg_ctl -m immediate`) under load, within the lease",
  promise: "Agents wait, unknown commits are resolved, and streams continue. No task fails.",
  maxSeconds: 120,
  bars: { tasksOfDeadNodes: 0, failed: 0, secondAttempts: 0 },
  async inject({ database, postgres, isFullRun, startNode, addFigure, addProblem }) {
    const nodes = [await startNode({ leaseMs: 15_000 }), await startNode({ leaseMs: 15_000 })];
    const load = new ChaosLoad({
      clients: 12,
      script: { chunks: 100, intervalMs: 20 },
      cancelEach: 7,
      getNodes: () => nodes,
      silenceMs: 10_000,
    });
    let longestOutageMs = 0;
    const crashes = isFullRun ? 10 : 2;
    for (let at = 0; at < crashes; at++) {
      await pause(1500);
      const stoppedAt = performance.now();
      await postgres.stop("immediate");
      await postgres.start();
      longestOutageMs = Math.max(longestOutageMs, performance.now() - stoppedAt);
    }
    await pause(1000);
    await load.end(30_000);
    for (const problem of await load.findProblems()) addProblem(problem);
    addFigure("crashes", crashes);
    addFigure("longestOutageMs", longestOutageMs);
    addFigure("tasks", load.tasks.length);
    addFigure("failed", load.countTasks("TASK_STATE_FAILED"));
    addFigure("secondAttempts", countTakeovers(nodes));
    addFigure("longestPauseMs", load.findLongestPauseMs());
    addFigure("silences", load.countSilences());
    addFigure("tasksOfDeadNodes", (await findTasksOfDeadNodes(database)).length);
  },
};
