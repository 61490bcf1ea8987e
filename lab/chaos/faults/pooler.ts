import { setTimeout as pause } from "node:timers/promises";
import { findPgBouncer, startTestPgBouncer } from "../../../src/stores/postgres/pgbouncer.fixture.ts";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { computePercentile } from "../percentile.ts";

/** Time in which the nodes notice that they receive no hints. */
const NOTICE_MS = 15_000;

export const fault: ChaosFault = {
  title: "PgBouncer in transaction mode is between two nodes and the database, and hints are on",
  promise: "Each node notices that hints do not arrive, reports it once, and polls. No event is lost.",
  maxSeconds: 120,
  bars: { warningsOfNodeMax: 1, nodesWithoutWarning: 0, silences: 0, failed: 0, lagP50Ms: 100 },
  async inject({ database, postgres, startNode, addFigure, addProblem, onEnd }) {
    const program = findPgBouncer();
    if (!program) return addProblem("PgBouncer is not installed");
    const pooler = await startTestPgBouncer(program, postgres.url);
    onEnd(() => pooler.stop());
    const options = {
      leaseMs: 15_000,
      database: pooler.toPooledUrl(database),
      preparedStatements: false,
    };
    const nodes = [await startNode(options), await startNode(options)];
    const noticedBy = performance.now() + NOTICE_MS;
    const createLoad = (name: string): ChaosLoad =>
      new ChaosLoad({
        name,
        clients: 12,
        script: { chunks: 60, intervalMs: 50 },
        cancelEach: 5,
        getNodes: () => nodes,
        silenceMs: 10_000,
      });
    const before = createLoad("before");
    while (nodes.some((node) => node.countReports("warning") === 0) && performance.now() < noticedBy)
      await pause(50);
    await before.end(30_000);
    const polling = createLoad("polling");
    // Each client follows its task on another node than the one that runs it.
    const moved = new Set<unknown>();
    const timer = setInterval(() => {
      for (const task of polling.tasks) {
        if (task.frames.size === 0 || moved.has(task)) continue;
        moved.add(task);
        task.disconnect();
      }
    }, 10);
    await pause(8000);
    clearInterval(timer);
    await polling.end(30_000);
    for (const load of [before, polling])
      for (const problem of await load.findProblems()) addProblem(problem);
    const warnings = nodes.map((node) => node.countReports("warning"));
    const lagsMs = polling.tasks.flatMap((task) => task.lagsMs);
    addFigure("tasks", before.tasks.length + polling.tasks.length);
    addFigure("warningsOfNodeMax", Math.max(...warnings));
    addFigure("nodesWithoutWarning", warnings.filter((count) => count === 0).length);
    addFigure("lagP50Ms", computePercentile(lagsMs, 0.5));
    addFigure("lagP99Ms", computePercentile(lagsMs, 0.99));
    addFigure("failed", before.countTasks("TASK_STATE_FAILED") + polling.countTasks("TASK_STATE_FAILED"));
    addFigure("silences", before.countSilences() + polling.countSilences());
  },
};
