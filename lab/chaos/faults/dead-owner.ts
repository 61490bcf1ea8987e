import { startTask } from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { computePercentile } from "../percentile.ts";
import { waitForEndOfTasks } from "../stored-tasks.ts";

const LEASE_MS = 10_000;
const CALLERS = 100;
const TASKS_PER_CALLER = 4;
const ROUNDS = 3;
const WAIT_MS = 30_000;

export const fault: ChaosFault = {
  title: "`kill -9` of a node with 400 tasks of 100 callers and the default lease, three times",
  promise: "The other node settles the last task within 15 s, as the median of the three.",
  maxSeconds: 240,
  bars: { settledP50Ms: 15_000, unsettled: 0 },
  async inject({ database, startNode, addFigure }) {
    await startNode({ leaseMs: LEASE_MS });
    const settledTimesMs: number[] = [];
    let unsettled = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const owner = await startNode({ leaseMs: LEASE_MS });
      const url = owner.getAgentUrl("fail");
      const script = { chunks: 1000, intervalMs: 1000 };
      for (let caller = 0; caller < CALLERS; caller++)
        await Promise.all(
          Array.from({ length: TASKS_PER_CALLER }, (_, at) =>
            startTask(url, `round-${round}-${at}`, script, `caller-${caller}`),
          ),
        );
      await owner.kill();
      const killedAt = performance.now();
      unsettled += await waitForEndOfTasks(database, WAIT_MS);
      settledTimesMs.push(performance.now() - killedAt);
    }
    addFigure("tasks", ROUNDS * CALLERS * TASKS_PER_CALLER);
    addFigure("unsettled", unsettled);
    addFigure("settledP50Ms", computePercentile(settledTimesMs, 0.5));
    addFigure("settledMaxMs", Math.max(...settledTimesMs));
  },
};
