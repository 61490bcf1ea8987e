import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { agent } from "../../../src/agents/adapters/index.ts";
import { createConsole, type ConsoleTaskList } from "../../../src/studio/console/index.ts";
import { bearer } from "../../../src/server/auth/index.ts";
import { createServer } from "../../../src/server/index.ts";
import type { BenchmarkContext } from "../benchmark-context.ts";
import { generateStoredTasks } from "../growth/generate-stored-tasks.ts";
import { computeMedian } from "../interval.ts";
import { createRow, type ReportRow, type ReportTable } from "../report.ts";

const REPETITIONS = 7;
const CALLERS = 1_000;
const TOKENS = { operator: "token-of-the-operator", caller: "token-of-the-caller-7" };

/**
 * Measures the task list of the console over a SQLite store with tasks of 1,000 callers. An operator lists the tasks of
 * all callers, and a caller lists their own tasks. Each time is that of a request over a socket.
 */
export async function measureConsoleLists({ settings }: BenchmarkContext): Promise<ReportTable[]> {
  const taskCount = settings.quick ? 100_000 : 1_000_000;
  const folder = mkdtempSync(join(tmpdir(), "console-lists-"));
  const file = join(folder, "tasks.db");
  try {
    generateStoredTasks(file, taskCount);
    assignTasksToCallers(file);
    return [
      {
        workload: "console-lists",
        title: `Task lists of the console, ${taskCount.toLocaleString("en-US")} tasks of ${CALLERS} callers, median and slowest of ${REPETITIONS}`,
        columns: [
          { key: "ms", title: "ms", format: "ms" },
          { key: "slowest", title: "slowest", format: "ms" },
          { key: "tasks", title: "tasks", format: "count" },
        ],
        rows: await measureLists(file, taskCount),
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function assignTasksToCallers(file: string): void {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA synchronous = OFF; BEGIN");
  const insert = db.prepare("INSERT INTO scope (key, tenant, principal, agent) VALUES (?, '', ?, 'bench')");
  for (let caller = 1; caller <= CALLERS; caller++) insert.run(caller + 1, `caller-${caller}`);
  db.exec(`UPDATE task SET scope = 2 + key % ${CALLERS}; DELETE FROM task_count;
    INSERT INTO task_count (scope, state, count) SELECT scope, state, count(*) FROM task GROUP BY scope, state;
    COMMIT; ANALYZE`);
  db.close();
}

async function measureLists(file: string, taskCount: number): Promise<ReportRow[]> {
  const consoleHandler = createConsole({ loadPage: () => Promise.reject(new Error("unused")) });
  const bench = agent({ name: "bench", description: "Echoes" }, async function* ({ text }) {
    yield text;
  });
  const server = createServer(
    { bench },
    {
      store: `sqlite:${file}`,
      retention: false,
      observer: false,
      mountedHandlers: [consoleHandler],
      authenticate: bearer({ tokens: { [TOKENS.caller]: "caller-7" } }),
      operator: { authenticate: bearer({ tokens: { [TOKENS.operator]: "operator" } }) },
    },
  );
  const openedAt = performance.now();
  const { url } = await server.listen();
  const rows = [createRow("open the store, and create the index", { ms: performance.now() - openedAt })];
  const list = async (token: string, query: string): Promise<ConsoleTaskList> => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/console/api/tasks?${query}`, { headers });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as ConsoleTaskList;
  };
  /** Returns the time of a task at a fraction of the list, from the oldest. */
  const computeTimeOfTask = (fraction: number): string =>
    new Date(Date.now() - (1 - fraction) * taskCount * 100).toISOString();
  for (const [user, token] of Object.entries(TOKENS)) {
    const first = await list(token, "");
    const queries: Record<string, string> = {
      "first page": "",
      "200 tasks": "pageSize=200",
      "second page": `pageToken=${first.nextPageToken}`,
      "rare state": "state=TASK_STATE_FAILED",
      "absent state": "state=TASK_STATE_REJECTED",
      "one agent": "agent=bench",
      "one context": `context=${first.tasks.at(-1)?.contextId}`,
      "time range in the middle": `from=${computeTimeOfTask(0.4)}&to=${computeTimeOfTask(0.5)}`,
      "rare state before a time": `state=TASK_STATE_INPUT_REQUIRED&to=${computeTimeOfTask(0.1)}`,
    };
    for (const [name, query] of Object.entries(queries)) {
      const times: number[] = [];
      let tasks = 0;
      for (let repetition = 0; repetition < REPETITIONS; repetition++) {
        const startedAt = performance.now();
        tasks = (await list(token, query)).tasks.length;
        times.push(performance.now() - startedAt);
      }
      const cells = { ms: computeMedian(times), slowest: Math.max(...times), tasks };
      rows.push(createRow(`${user}, ${name}`, cells));
    }
  }
  await server.close();
  return rows;
}
