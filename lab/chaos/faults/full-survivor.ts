import type { ChaosFault } from "../chaos-fault.ts";
import { countRows, startManyTasks, waitForEndOfTasks } from "../stored-tasks.ts";
import { countTakeovers } from "../systems/chaos-system.ts";

const LEASE_MS = 10_000;
/** Tasks of each node. Both together are more than the 1,100 turns that one node runs after a death. */
const TASKS_PER_NODE = 800;
/** Duration in milliseconds of the work of each task. */
const WORK_MS = 30_000;
const PARALLEL_REQUESTS = 16;
const WAIT_MS = 120_000;

export const fault: ChaosFault = {
  title:
    "`kill -9` of one of two nodes with 800 tasks each, so that the other node has no room for all of them",
  promise: "The tasks of the dead node wait for room, and none of them fails.",
  maxSeconds: 240,
  bars: { unsettled: 0, failed: 0 },
  async inject({ database, startNode, addFigure }) {
    const owner = await startNode({ leaseMs: LEASE_MS });
    const survivor = await startNode({ leaseMs: LEASE_MS });
    await Promise.all(
      Object.entries({ owner, survivor }).map(([name, node]) =>
        startManyTasks(TASKS_PER_NODE, {
          name,
          workMs: WORK_MS,
          parallel: PARALLEL_REQUESTS,
          getUrl: () => node.getAgentUrl("restart"),
        }),
      ),
    );
    await owner.kill();
    const killedAt = performance.now();
    const unsettled = await waitForEndOfTasks(database, WAIT_MS);
    addFigure("tasks", 2 * TASKS_PER_NODE);
    addFigure("takenOver", countTakeovers([survivor]));
    addFigure("unsettled", unsettled);
    addFigure(
      "failed",
      await countRows(database, "task WHERE NOT running AND state <> 'TASK_STATE_COMPLETED'"),
    );
    addFigure("settledMs", performance.now() - killedAt);
  },
};
