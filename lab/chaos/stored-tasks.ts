/** Tasks in the database, and many tasks at once. */
import { setTimeout as pause } from "node:timers/promises";
import { runTestSql } from "../../src/stores/postgres/postgres-server.fixture.ts";
import { startTask } from "./agent-requests.ts";

const CALLERS = 100;

/** Returns the ids of the tasks with a running turn that no living node holds. */
export async function findTasksOfDeadNodes(database: string): Promise<string[]> {
  const rows = await runTestSql(
    database,
    `SELECT task_id FROM colloquy.task WHERE running AND NOT EXISTS (
       SELECT 1 FROM colloquy.node WHERE id = lease_node)`,
  );
  return rows.map(({ task_id }) => String(task_id));
}

/** Counts the rows that follow `FROM colloquy.`. */
export async function countRows(database: string, rows: string): Promise<number> {
  const [row] = await runTestSql(database, `SELECT count(*) AS count FROM colloquy.${rows}`);
  return Number(row?.["count"]);
}

/** Waits until no task is running, or until the time is over. Resolves with the number of tasks that still run. */
export async function waitForEndOfTasks(database: string, maxMs: number): Promise<number> {
  await waitUntil(async () => (await countRows(database, "task WHERE running")) === 0, maxMs);
  return countRows(database, "task WHERE running");
}

/** Waits until a condition is true, or until the time is over. */
export async function waitUntil(isTrue: () => Promise<boolean>, maxMs: number): Promise<void> {
  for (const deadline = performance.now() + maxMs; performance.now() < deadline; await pause(50))
    if (await isTrue()) return;
}

/** Starts tasks of 100 callers, several at a time. Each task works without an event for `workMs`. */
export async function startManyTasks(
  count: number,
  {
    name,
    workMs,
    parallel,
    getUrl,
  }: {
    readonly name: string;
    readonly workMs: number;
    readonly parallel: number;
    readonly getUrl: (number: number) => string;
  },
): Promise<void> {
  let started = 0;
  const startNext = async (): Promise<void> => {
    while (started < count) {
      const number = started++;
      const script = { chunks: 1, intervalMs: workMs };
      await startTask(getUrl(number), `${name}-${number}`, script, `caller-${number % CALLERS}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, startNext));
}
