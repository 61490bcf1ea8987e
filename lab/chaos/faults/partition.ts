import { setTimeout as pause } from "node:timers/promises";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { findTasksOfDeadNodes } from "../stored-tasks.ts";
import { readMonotonicMs } from "../scripted-agents.ts";
import { TcpProxy } from "../tcp-proxy.ts";

const LEASE_MS = 1500;
const PARTITION_MS = 4 * LEASE_MS;

export const fault: ChaosFault = {
  title:
    "the network between one node and the database is partitioned for four leases; then the late bytes arrive",
  promise:
    "The node stops its agents before its lease ends. Other nodes take over, and the late writes change nothing.",
  maxSeconds: 120,
  bars: { tasksOfDeadNodes: 0, agentsStoppedAfterMaxMs: LEASE_MS, agentsLeftRunning: 0 },
  async inject({ database, postgres, startNode, addFigure, addProblem, onEnd }) {
    const proxy = await TcpProxy.listen(Number(new URL(postgres.url).port));
    onEnd(() => proxy.close());
    const cutOff = await startNode({ leaseMs: LEASE_MS, database: proxy.toProxyUrl(database) });
    const nodes = [cutOff, await startNode({ leaseMs: LEASE_MS })];
    let isPartitioned = false;
    const load = new ChaosLoad({
      clients: 12,
      script: { chunks: 100, intervalMs: 30 },
      getNodes: () => nodes.filter((node) => !isPartitioned || node !== cutOff),
      silenceMs: LEASE_MS + 3000,
    });
    await pause(2000);
    isPartitioned = true;
    const startedAt = readMonotonicMs();
    proxy.beginPartition();
    const running = cutOff.findRunningAgents();
    for (const task of load.tasks) task.disconnect();
    await pause(PARTITION_MS);
    // An agent of three seconds can also end by itself before it is aborted.
    const endReports = running.map(({ taskId, attempt }) =>
      cutOff.findAgentReports("ended").find((ended) => ended.taskId === taskId && ended.attempt === attempt),
    );
    addFigure("agentsCutOff", running.length);
    addFigure("agentsLeftRunning", endReports.filter((ended) => !ended).length);
    addFigure(
      "agentsStoppedAfterMaxMs",
      Math.max(0, ...endReports.map((ended) => (ended?.at ?? startedAt) - startedAt)),
    );
    proxy.endPartition();
    isPartitioned = false;
    await pause(2000);
    await load.end(30_000);
    for (const problem of await load.findProblems()) addProblem(problem);
    addFigure("tasks", load.tasks.length);
    addFigure("longestPauseMs", load.findLongestPauseMs());
    addFigure("silences", load.countSilences());
    addFigure("tasksOfDeadNodes", (await findTasksOfDeadNodes(database)).length);
  },
};
