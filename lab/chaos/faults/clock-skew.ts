import { setTimeout as pause } from "node:timers/promises";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { findTasksOfDeadNodes } from "../stored-tasks.ts";
import { countTakeovers } from "../systems/chaos-system.ts";

const LEASE_MS = 1500;
const TEN_MINUTES_MS = 600_000;

export const fault: ChaosFault = {
  title: "wall clocks of two nodes are 10 minutes ahead and behind; the node with the fast clock is killed",
  promise: "No node takes over tasks of a living node. The tasks of the killed node are recovered in time.",
  maxSeconds: 120,
  bars: { tasksOfDeadNodes: 0, takenOverBeforeKill: 0 },
  async inject({ database, startNode, addFigure, addProblem }) {
    const slow = await startNode({ leaseMs: LEASE_MS, clockOffsetMs: -TEN_MINUTES_MS });
    const fast = await startNode({ leaseMs: LEASE_MS, clockOffsetMs: TEN_MINUTES_MS });
    const nodes = [slow, fast, await startNode({ leaseMs: LEASE_MS })];
    const load = new ChaosLoad({
      clients: 12,
      script: { chunks: 80, intervalMs: 30 },
      cancelEach: 7,
      getNodes: () => nodes.filter(({ isRunning }) => isRunning),
      silenceMs: LEASE_MS + 3000,
    });
    await pause(3 * LEASE_MS);
    addFigure("takenOverBeforeKill", countTakeovers(nodes));
    await fast.kill();
    await pause(LEASE_MS + 3000);
    addFigure("tasksOfDeadNodes", (await findTasksOfDeadNodes(database)).length);
    await load.end(30_000);
    for (const problem of await load.findProblems()) addProblem(problem);
    addFigure("tasks", load.tasks.length);
    addFigure("takenOver", countTakeovers(nodes));
    addFigure("silences", load.countSilences());
  },
};
