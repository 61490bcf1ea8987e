import { setTimeout as pause } from "node:timers/promises";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { countTakeovers } from "../systems/chaos-system.ts";
import { findTasksOfDeadNodes } from "../stored-tasks.ts";

const LEASE_MS = 1500;

export const fault: ChaosFault = {
  title: "SIGSTOP of a node for twice its lease under load, then SIGCONT",
  promise: "Other nodes take over the tasks. The late writes of the node are refused, and its agents stop.",
  maxSeconds: 120,
  bars: { tasksOfDeadNodes: 0 },
  async inject({ database, isFullRun, startNode, addFigure, addProblem }) {
    const nodes = [await startNode({ leaseMs: LEASE_MS }), await startNode({ leaseMs: LEASE_MS })];
    const [zombie] = nodes;
    if (!zombie) return;
    let isPaused = false;
    const load = new ChaosLoad({
      clients: 12,
      script: { chunks: 100, intervalMs: 30 },
      cancelEach: 7,
      getNodes: () => nodes.filter((node) => !isPaused || node !== zombie),
      silenceMs: LEASE_MS + 3000,
    });
    const pauses = isFullRun ? 10 : 2;
    for (let at = 0; at < pauses; at++) {
      await pause(1500);
      isPaused = true;
      zombie.pause();
      for (const task of load.tasks) task.disconnect();
      await pause(2 * LEASE_MS);
      zombie.continue();
      isPaused = false;
    }
    await load.end(30_000);
    for (const problem of await load.findProblems()) addProblem(problem);
    addFigure("pauses", pauses);
    addFigure("tasks", load.tasks.length);
    addFigure("takenOver", countTakeovers(nodes));
    addFigure("agentsStoppedOnZombie", zombie.findAgentReports("aborted").length);
    addFigure("longestPauseMs", load.findLongestPauseMs());
    addFigure("silences", load.countSilences());
    addFigure("tasksOfDeadNodes", (await findTasksOfDeadNodes(database)).length);
  },
};
