import { setTimeout as pause } from "node:timers/promises";
import { runTestSql } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosFault } from "../chaos-fault.ts";

const DURATION_MS = 5000;

export const fault: ChaosFault = {
  title: "the connections of LISTEN break under load, again and again",
  promise: "Hints are lost, and no event. Clients on the other node receive everything by polling.",
  maxSeconds: 60,
  bars: { silences: 0, failed: 0 },
  async inject({ database, startNode, addFigure, addProblem }) {
    const nodes = [await startNode({ leaseMs: 15_000 }), await startNode({ leaseMs: 15_000 })];
    const load = new ChaosLoad({
      clients: 12,
      script: { chunks: 60, intervalMs: 20 },
      cancelEach: 5,
      getNodes: () => nodes,
    });
    // Each client follows its task on another node than the one that runs it.
    const timer = setInterval(() => {
      for (const task of load.tasks) if (task.frames.size === 1) task.disconnect();
    }, 10);
    let broken = 0;
    const endsAt = performance.now() + DURATION_MS;
    while (performance.now() < endsAt) {
      const rows = await runTestSql(
        database,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'colloquy hints'`,
      );
      broken += rows.length;
      await pause(200);
    }
    clearInterval(timer);
    await load.end(20_000);
    for (const problem of await load.findProblems()) addProblem(problem);
    if (broken === 0) addProblem("no node had a connection with LISTEN");
    addFigure("brokenConnections", broken);
    addFigure("tasks", load.tasks.length);
    addFigure("failed", load.countTasks("TASK_STATE_FAILED"));
    addFigure("silences", load.countSilences());
  },
};
