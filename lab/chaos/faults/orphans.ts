import { setTimeout as pause } from "node:timers/promises";
import { fetchTaskByRpc, isFinalState, startTask, waitForFinalState } from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { computePercentile } from "../percentile.ts";

const LEASE_MS = 2000;
const TASKS = 18;
const WAIT_MS = 25_000;

export const fault: ChaosFault = {
  title: "`kill -9` of a node with 18 running tasks, without a restart",
  promise: "The other node ends each task, and reports the end within the lease and 3 s.",
  maxSeconds: 120,
  bars: { stillWorking: 0, endMaxMs: LEASE_MS + 3000 },
  isComparison: true,
  async inject({ startNode, addFigure }) {
    const [owner, other] = [await startNode({ leaseMs: LEASE_MS }), await startNode({ leaseMs: LEASE_MS })];
    const taskIds = await Promise.all(
      Array.from({ length: TASKS }, (_, at) =>
        startTask(owner.getAgentUrl("fail"), `orphan-${at}`, { chunks: 3000, intervalMs: 20 }),
      ),
    );
    await pause(1000);
    await owner.kill();
    const killedAt = performance.now();
    const endTimesMs: number[] = [];
    await Promise.all(
      taskIds.map(async (taskId) => {
        const state = await waitForFinalState(other.getAgentUrl("fail"), taskId, WAIT_MS);
        if (isFinalState(state)) endTimesMs.push(performance.now() - killedAt);
      }),
    );
    const states = await Promise.all(
      taskIds.map((taskId) => fetchTaskByRpc(other.getAgentUrl("fail"), taskId)),
    );
    addFigure("tasks", TASKS);
    addFigure("stillWorking", states.filter(({ status }) => !isFinalState(status.state)).length);
    addFigure("endP50Ms", computePercentile(endTimesMs, 0.5));
    addFigure("endMaxMs", Math.max(0, ...endTimesMs));
  },
};
