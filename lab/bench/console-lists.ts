/**
 * Measures the task list of the console over a SQLite store: `npm run lab -- bench console [TASKS]`. The store has 1,000,000
 * tasks of 1,000 callers by default. An operator lists the tasks of all callers, and a caller lists their own tasks.
 * Each time is the median of 7 requests over a socket, and the slowest request.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConsole } from "../../src/console/index.ts";
import type { ConsoleTaskList } from "../../src/console/index.ts";
import { agent } from "../../src/adapters/index.ts";
import { createServer } from "../../src/server/index.ts";
import { bearer } from "../../src/server/auth/index.ts";
import { SCHEMA_VERSION } from "../../src/stores/sqlite/schema.ts";
import { generateStoredTasks } from "./growth/generate-stored-tasks.ts";

const REPETITIONS = 7;
const CALLERS = 1_000;
const OPERATOR = "token-of-the-operator";
const CALLER = "token-of-the-caller-7";

const count = Number(process.argv[2] ?? 1_000_000);
const folder = mkdtempSync(join(tmpdir(), "console-lists-"));
const file = join(folder, "tasks.db");
try {
  generateStoredTasks(file, count, SCHEMA_VERSION);
  assignTasksToCallers();
  await measureLists();
} finally {
  rmSync(folder, { recursive: true });
}

function assignTasksToCallers(): void {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA synchronous = OFF; BEGIN");
  const insert = db.prepare("INSERT INTO scope (key, tenant, principal, agent) VALUES (?, '', ?, 'bench')");
  for (let caller = 1; caller <= CALLERS; caller++) insert.run(caller + 1, `caller-${caller}`);
  db.exec(`UPDATE task SET scope = 2 + key % ${CALLERS}; DELETE FROM task_count;
    INSERT INTO task_count (scope, state, count) SELECT scope, state, count(*) FROM task GROUP BY scope, state;
    COMMIT; ANALYZE`);
  db.close();
}

async function measureLists(): Promise<void> {
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
      authenticate: bearer({ tokens: { [CALLER]: "caller-7" } }),
      operator: { authenticate: bearer({ tokens: { [OPERATOR]: "operator" } }) },
    },
  );
  const opening = performance.now();
  const { url } = await server.listen();
  print("open the store, and create the index", performance.now() - opening);
  const list = async (token: string, query: string): Promise<ConsoleTaskList> => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/console/api/tasks?${query}`, { headers });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as ConsoleTaskList;
  };
  for (const [user, token] of Object.entries({ operator: OPERATOR, caller: CALLER })) {
    const first = await list(token, "");
    const last = first.tasks.at(-1);
    const queries: Record<string, string> = {
      "first page": "",
      "200 tasks": "pageSize=200",
      "second page": `pageToken=${first.nextPageToken}`,
      "rare state": "state=TASK_STATE_FAILED",
      "absent state": "state=TASK_STATE_REJECTED",
      "one agent": "agent=bench",
      "one context": `context=${last?.contextId}`,
      "time range in the middle": `from=${computeTimeOfTask(0.4)}&to=${computeTimeOfTask(0.5)}`,
      "rare state before a time": `state=TASK_STATE_INPUT_REQUIRED&to=${computeTimeOfTask(0.1)}`,
    };
    for (const [name, query] of Object.entries(queries)) {
      const times: number[] = [];
      let tasks = 0;
      for (let repetition = 0; repetition < REPETITIONS; repetition++) {
        const start = performance.now();
        tasks = (await list(token, query)).tasks.length;
        times.push(performance.now() - start);
      }
      times.sort((a, b) => a - b);
      print(`${user}, ${name}, ${tasks} tasks`, times[3] ?? 0, times.at(-1));
    }
  }
  await server.close();
}

/** Returns the time of a task at a fraction of the list, from the oldest. */
function computeTimeOfTask(fraction: number): string {
  return new Date(Date.now() - (1 - fraction) * count * 100).toISOString();
}

function print(subject: string, medianMs: number, slowestMs?: number): void {
  const slowest = slowestMs === undefined ? "" : ` (slowest ${slowestMs.toFixed(1)})`;
  console.log(`${subject.padEnd(50)} ${medianMs.toFixed(1).padStart(9)} ms${slowest}`);
}
