import { setTimeout as pause } from "node:timers/promises";
import { runTestSql } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { startTask } from "../agent-requests.ts";
import type { ChaosContext, ChaosFault } from "../chaos-fault.ts";
import type { ChaosNode } from "../systems/chaos-system.ts";

const LEASE_MS = 10_000;
const NODES = 4;
const TASKS = 3000;
const CALLERS = 100;
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
    let started = 0;
    const startTasks = async (): Promise<void> => {
      while (started < TASKS) {
        const number = started++;
        const url = (first[number % NODES] as ChaosNode).getAgentUrl("restart");
        const script = { chunks: 1, intervalMs: WORK_MS };
        await startTask(url, `task-${number}`, script, `caller-${number % CALLERS}`);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_REQUESTS }, startTasks));
    await killAll(first);
    const second = await startNodes(context);
    await waitUntil(async () => (await countAttempts(database, 2)) >= (await countRunning(database)));
    await killAll(second);
    const suspects = await countAttempts(database, 2);
    if (suspects < 0.9 * TASKS) addProblem(`only ${suspects} tasks have lost two nodes`);
    await startNodes(context);
    const startedAt = performance.now();
    await waitUntil(async () => (await countRunning(database)) === 0);
    addFigure("tasks", TASKS);
    addFigure("twiceDead", suspects);
    addFigure("unsettled", await countRunning(database));
    addFigure(
      "failed",
      await countRows(database, "task WHERE state <> 'TASK_STATE_COMPLETED' AND NOT running"),
    );
    addFigure("settledBeyondWorkMs", performance.now() - startedAt - WORK_MS);
  },
};

function startNodes({ startNode }: ChaosContext): Promise<ChaosNode[]> {
  return Promise.all(Array.from({ length: NODES }, () => startNode({ leaseMs: LEASE_MS })));
}

async function killAll(nodes: readonly ChaosNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill()));
}

/** Waits until a condition is true, or until the time is over. */
async function waitUntil(isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + WAIT_MS; performance.now() < deadline; await pause(100))
    if (await isTrue()) return;
}

async function countRows(database: string, rows: string): Promise<number> {
  const [row] = await runTestSql(database, `SELECT count(*) AS count FROM colloquy.${rows}`);
  return Number(row?.["count"]);
}

const countRunning = (database: string): Promise<number> => countRows(database, "task WHERE running");

/** Counts the running tasks that have at least a number of attempts. */
function countAttempts(database: string, attempts: number): Promise<number> {
  return countRows(
    database,
    `task AS task JOIN colloquy.turn AS turn ON turn.task = task.key
     WHERE task.running AND (turn.json::jsonb ->> 'attempt')::int >= ${attempts}`,
  );
}
