import { setTimeout as pause } from "node:timers/promises";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { findTasksOfDeadNodes } from "../stored-tasks.ts";
import { countTakeovers } from "../systems/chaos-system.ts";
import { TcpProxy } from "../tcp-proxy.ts";

export const fault: ChaosFault = {
  title: "all connections of one node to the database become half-open, and new connections work",
  promise: "The node replaces the connections within 5 s, and its agents and streams continue.",
  maxSeconds: 120,
  bars: { longestPauseMs: 5000, silences: 0, failed: 0, takenOver: 0 },
  async inject({ database, postgres, startNode, addFigure, addProblem, onEnd }) {
    const proxy = await TcpProxy.listen(Number(new URL(postgres.url).port));
    onEnd(() => proxy.close());
    const nodes = [
      await startNode({ leaseMs: 15_000, database: proxy.toProxyUrl(database) }),
      await startNode({ leaseMs: 15_000 }),
    ];
    const load = new ChaosLoad({
      clients: 12,
      script: { chunks: 300, intervalMs: 30 },
      getNodes: () => nodes,
      silenceMs: 15_000,
    });
    await pause(2000);
    proxy.abandonConnections();
    await pause(10_000);
    await load.end(60_000);
    for (const problem of await load.findProblems()) addProblem(problem);
    addFigure("tasks", load.tasks.length);
    addFigure("failed", load.countTasks("TASK_STATE_FAILED"));
    addFigure("takenOver", countTakeovers(nodes));
    addFigure("longestPauseMs", load.findLongestPauseMs());
    addFigure("silences", load.countSilences());
    addFigure("tasksOfDeadNodes", (await findTasksOfDeadNodes(database)).length);
  },
};
