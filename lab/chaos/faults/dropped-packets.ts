import { setTimeout as pause } from "node:timers/promises";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { findTasksOfDeadNodes } from "../stored-tasks.ts";
import { PacketFilter } from "../packet-filter.ts";
import { readMonotonicMs } from "../scripted-agents.ts";

const LEASE_MS = 5000;
const DROP_MS = 3 * LEASE_MS;

export const fault: ChaosFault = {
  title: "a filter drops all packets between one node and the database for three leases",
  promise:
    "The node is not ready after 5 s, and stops its agents before its lease ends. Other nodes take over. Afterwards, the node is ready again.",
  maxSeconds: 180,
  bars: { notReadyAfterMs: 5000, agentsStoppedAfterMaxMs: LEASE_MS, readyAgainAfterMs: 15_000 },
  async inject({ database, postgres, startNode, addFigure, addProblem, onEnd }) {
    const filter = await PacketFilter.create(Number(new URL(postgres.url).port));
    onEnd(() => filter.remove());
    const cutOff = await startNode({ leaseMs: LEASE_MS, database: filter.toFilteredUrl(database) });
    const nodes = [cutOff, await startNode({ leaseMs: LEASE_MS })];
    let isCutOff = false;
    const load = new ChaosLoad({
      clients: 12,
      script: { chunks: 300, intervalMs: 30 },
      getNodes: () => nodes.filter((node) => !isCutOff || node !== cutOff),
      silenceMs: LEASE_MS + 5000,
    });
    await pause(2000);
    isCutOff = true;
    const startedAt = readMonotonicMs();
    filter.dropPackets();
    const running = cutOff.findRunningAgents();
    for (const task of load.tasks) task.disconnect();
    while ((await cutOff.isReady()) && readMonotonicMs() - startedAt < DROP_MS) await pause(50);
    addFigure("notReadyAfterMs", readMonotonicMs() - startedAt);
    await pause(DROP_MS - (readMonotonicMs() - startedAt));
    const ends = running.map(({ taskId, attempt }) =>
      cutOff.findAgentReports("ended").find((ended) => ended.taskId === taskId && ended.attempt === attempt),
    );
    addFigure("agentsCutOff", running.length);
    const endTimes = ends.map((ended) => (ended?.at ?? Infinity) - startedAt);
    addFigure("agentsStoppedAfterMaxMs", Math.max(0, ...endTimes));
    filter.passPackets();
    const passedAt = readMonotonicMs();
    while (!(await cutOff.isReady()) && readMonotonicMs() - passedAt < 30_000) await pause(50);
    addFigure("readyAgainAfterMs", readMonotonicMs() - passedAt);
    isCutOff = false;
    await load.end(60_000);
    for (const problem of await load.findProblems()) addProblem(problem);
    addFigure("tasks", load.tasks.length);
    addFigure("longestPauseMs", load.findLongestPauseMs());
    addFigure("tasksOfDeadNodes", (await findTasksOfDeadNodes(database)).length);
  },
};
