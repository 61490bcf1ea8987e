import type { ChaosContext, ChaosFault } from "../chaos-fault.ts";
import { countRows, startManyTasks, waitForEndOfTasks, waitUntil } from "../stored-tasks.ts";
import type { ChaosNode } from "../systems/chaos-system.ts";

const LEASE_MS = 10_000;
const NODES = 4;
const TASKS = 3000;
/** Duration in milliseconds of the work of each task. */
const WORK_MS = 30_000;
const PARALLEL_REQUESTS = 32;
const WAIT_MS = 150_000;

export const fault: ChaosFault = {
  title: "`kill -9` of all four nodes with 3,000 tasks, and again during the second attempts of the tasks",
  promise: "No task fails. New nodes settle all tasks within the time of their work and 60 s.",
  maxSeconds: 420,
  bars: { unsettled: 0, failed: 0, settledBeyondWorkMs: 60_000 },
  async inject(context) {
    const { database, addFigure, addProblem } = context;
    const first = await startNodes(context);
    await startManyTasks(TASKS, {
      name: "task",
      workMs: WORK_MS,
      parallel: PARALLEL_REQUESTS,
      getUrl: (number) => (first[number % NODES] as ChaosNode).getAgentUrl("restart"),
    });
    await killAll(first);
    const second = await startNodes(context);
    await waitUntil(
      async () => (await countAttempts(database, 2)) >= (await countRows(database, "task WHERE running")),
      WAIT_MS,
    );
    await killAll(second);
    const suspects = await countAttempts(database, 2);
    if (suspects < 0.9 * TASKS) addProblem(`only ${suspects} tasks have lost two nodes`);
    await startNodes(context);
    const startedAt = performance.now();
    const unsettled = await waitForEndOfTasks(database, WAIT_MS);
    const settledMs = performance.now() - startedAt;
    addFigure("tasks", TASKS);
    addFigure("twiceDead", suspects);
    addFigure("unsettled", unsettled);
    addFigure(
      "failed",
      await countRows(database, "task WHERE state <> 'TASK_STATE_COMPLETED' AND NOT running"),
    );
    addFigure("settledBeyondWorkMs", settledMs - WORK_MS);
  },
};

function startNodes({ startNode }: ChaosContext): Promise<ChaosNode[]> {
  return Promise.all(Array.from({ length: NODES }, () => startNode({ leaseMs: LEASE_MS })));
}

async function killAll(nodes: readonly ChaosNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill()));
}

/** Counts the running tasks that have at least a number of attempts. */
function countAttempts(database: string, attempts: number): Promise<number> {
  return countRows(
    database,
    `task AS task JOIN colloquy.turn AS turn ON turn.task = task.key
     WHERE task.running AND (turn.json::jsonb ->> 'attempt')::int >= ${attempts}`,
  );
}
