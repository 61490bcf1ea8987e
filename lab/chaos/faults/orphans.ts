import { setTimeout as pause } from "node:timers/promises";
import { callAgent, fetchTaskByRpc, isFinalState, startTask } from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { computePercentile } from "../percentile.ts";

const LEASE_MS = 2000;
const TASKS = 18;
const WAIT_MS = 25_000;

export const fault: ChaosFault = {
  title: "`kill -9` of a node with 18 running tasks, without a restart",
  promise:
    "The other node ends each task within the lease and 3 s. Meanwhile, each task can be read and listed.",
  maxSeconds: 120,
  bars: { failedReads: 0, stillWorking: 0, endMaxMs: LEASE_MS + 3000 },
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
    let [reads, failedReads] = [0, 0];
    const countRead = (isSuccess: boolean): void => {
      reads++;
      if (!isSuccess) failedReads++;
    };
    await Promise.all(
      taskIds.map(async (taskId) => {
        while (performance.now() - killedAt < WAIT_MS) {
          const task = await fetchTaskByRpc(other.getAgentUrl("fail"), taskId).catch(() => undefined);
          countRead(task !== undefined);
          if (isFinalState(task?.status.state)) {
            endTimesMs.push(performance.now() - killedAt);
            return;
          }
          await callAgent(other.getAgentUrl("fail"), "ListTasks", {}).then(
            () => countRead(true),
            () => countRead(false),
          );
          await pause(100);
        }
      }),
    );
    const states = await Promise.all(
      taskIds.map((taskId) => fetchTaskByRpc(other.getAgentUrl("fail"), taskId)),
    );
    addFigure("tasks", TASKS);
    addFigure("reads", reads);
    addFigure("failedReads", failedReads);
    addFigure("stillWorking", states.filter(({ status }) => !isFinalState(status.state)).length);
    addFigure("endP50Ms", computePercentile(endTimesMs, 0.5));
    addFigure("endMaxMs", Math.max(0, ...endTimesMs));
  },
};
