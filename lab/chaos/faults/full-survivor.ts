import { setTimeout as pause } from "node:timers/promises";
import { runTestSql } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { startTask } from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { countTakeovers, type ChaosNode } from "../systems/chaos-system.ts";

const LEASE_MS = 10_000;
/** Tasks of each node. Both together are more than the 1,100 turns that one node runs after a death. */
const TASKS_PER_NODE = 800;
const CALLERS = 100;
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
    await Promise.all([startTasks(owner, "owner"), startTasks(survivor, "survivor")]);
    await owner.kill();
    const killedAt = performance.now();
    let unsettled = await countTasks(database, "running");
    while (unsettled > 0 && performance.now() - killedAt < WAIT_MS) {
      await pause(100);
      unsettled = await countTasks(database, "running");
    }
    addFigure("tasks", 2 * TASKS_PER_NODE);
    addFigure("takenOver", countTakeovers([survivor]));
    addFigure("unsettled", unsettled);
    addFigure("failed", await countTasks(database, "NOT running AND state <> 'TASK_STATE_COMPLETED'"));
    addFigure("settledMs", performance.now() - killedAt);
  },
};

async function startTasks(node: ChaosNode, name: string): Promise<void> {
  let started = 0;
  const startNext = async (): Promise<void> => {
    while (started < TASKS_PER_NODE) {
      const number = started++;
      const script = { chunks: 1, intervalMs: WORK_MS };
      await startTask(node.getAgentUrl("restart"), `${name}-${number}`, script, `caller-${number % CALLERS}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_REQUESTS }, startNext));
}

async function countTasks(database: string, condition: string): Promise<number> {
  const [row] = await runTestSql(database, `SELECT count(*) AS count FROM colloquy.task WHERE ${condition}`);
  return Number(row?.["count"]);
}
