import { setImmediate as nextTurn } from "node:timers/promises";
import { Client } from "pg";
import { agent } from "../../../src/agents/adapters/index.ts";
import { connect } from "../../../src/client/index.ts";
import type { LogAppend, TaskListQuery, TaskScope } from "../../../src/engine/index.ts";
import { LogEvent, text, type TaskEvent } from "../../../src/protocol/index.ts";
import { createServer } from "../../../src/server/index.ts";
import { PostgresStore } from "../../../src/stores/index.ts";
import { computeScopeKey } from "../../../src/stores/postgres/scope-key.ts";
import {
  createTestDatabase,
  runTestSql,
  startTestPostgres,
} from "../../../src/stores/postgres/postgres-server.fixture.ts";
import type { BenchmarkContext } from "../benchmark-context.ts";
import { computeMedian, computeMedianRatio } from "../interval.ts";
import {
  createMaximumTarget,
  createRow,
  createTargets,
  type ReportColumn,
  type ReportRow,
  type ReportTable,
} from "../report.ts";

const SCOPE: TaskScope = { tenant: "", principal: "bench", agent: "bench" };
/** Number of tasks with an append in each batch. */
const BATCH_SIZE = 200;
const EVENT_TEXT = "x".repeat(900);
const TIMESTAMP = "2026-01-01T00:00:00.000Z";
const LIST_REPETITIONS = 30;

/** Measures the PostgreSQL store, with a server that syncs each commit to the disk of this machine. */
export async function measurePostgres(bench: BenchmarkContext): Promise<ReportTable[]> {
  const server = await startTestPostgres({ fsync: "on", full_page_writes: "on", shared_buffers: "256MB" });
  try {
    const { quick } = bench.settings;
    return [
      await measureAppends(await createTestDatabase(server.url, "appends"), quick ? 20 : 100),
      await measureStreamLengths(await createTestDatabase(server.url, "streams"), quick ? 2000 : 8000),
      await measureLists(await createTestDatabase(server.url, "lists"), quick ? 100_000 : 1_000_000),
    ];
  } finally {
    await server.remove();
  }
}

/** Measures appends of 1 KB, and a bare insert of the same log rows in the same rounds. */
async function measureAppends(url: string, rounds: number): Promise<ReportTable> {
  const store = new PostgresStore(url);
  await store.open();
  const bare = new Client({ connectionString: url });
  await bare.connect();
  await bare.query("CREATE TABLE bare (task bigint, seq bigint, lines text, PRIMARY KEY (task, seq))");
  await store.commit(createAppends(0));
  const storeRates: number[] = [];
  const bareRates: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const appends = createAppends(round);
    // The first access serializes the event, which neither side should count.
    const lines = appends.map(({ events }) => events[0]?.jsonText);
    storeRates.push(await measureRate(() => store.commit(appends)));
    bareRates.push(
      await measureRate(() =>
        bare.query({
          name: "bare",
          text: "INSERT INTO bare SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[])",
          values: [appends.map((_, task) => task), appends.map(() => round), lines],
        }),
      ),
    );
  }
  await bare.end();
  await store.close();
  const rate = computeMedian(storeRates);
  const ratio = computeMedianRatio(storeRates, bareRates);
  const columns: readonly ReportColumn[] = [
    { key: "rate", title: "events/s", format: "rate" },
    { key: "ratio", title: "× bare insert", format: "ratio" },
  ];
  const limits = { ratio: { min: 0.6 }, rate: { min: 10_000 } };
  return {
    workload: "postgres",
    title: `PostgreSQL: events of 1 KB per second, in batches of ${BATCH_SIZE}`,
    columns,
    rows: [
      createRow("bare insert", { rate: computeMedian(bareRates) }),
      createRow("store", { rate, ratio }, createTargets(limits, { rate, ratio }, columns)),
    ],
  };
}

async function measureRate(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (BATCH_SIZE / (performance.now() - startedAt)) * 1000;
}

/** Creates the appends of a round. Round 0 creates the tasks. */
function createAppends(round: number): LogAppend[] {
  return Array.from({ length: BATCH_SIZE }, (_, number) => {
    const taskId = `task-${number}`;
    const event: TaskEvent =
      round === 0
        ? {
            task: {
              id: taskId,
              contextId: "c",
              status: { state: "TASK_STATE_WORKING", timestamp: TIMESTAMP },
            },
          }
        : {
            artifactUpdate: {
              taskId,
              contextId: "c",
              artifact: { artifactId: "a", parts: [text(EVENT_TEXT)] },
              append: true,
            },
          };
    const events = [LogEvent.create(round + 1, event)];
    const status = { state: "TASK_STATE_WORKING", timestamp: TIMESTAMP } as const;
    return {
      scope: SCOPE,
      committedAt: 0,
      taskId,
      contextId: "c",
      expectedSeq: round,
      events,
      status,
      messages: [],
      epoch: 0,
    };
  });
}

/** Measures the time per chunk of a short and of a long stream, each through a server. */
async function measureStreamLengths(url: string, longest: number): Promise<ReportTable> {
  const talker = agent({ name: "talker", description: "Talks" }, async function* ({ text: count }) {
    for (let chunk = 0; chunk < Number(count); chunk++) {
      yield `chunk ${chunk} `;
      await nextTurn();
    }
  });
  const server = createServer(
    { talker },
    { store: new PostgresStore(url), mergeChunks: false, observer: false },
  );
  try {
    const { agents } = await server.listen();
    const client = await connect(agents[0]?.url ?? "");
    const measure = async (count: number): Promise<number> => {
      const startedAt = performance.now();
      await client.send(String(count));
      return ((performance.now() - startedAt) * 1000) / count;
    };
    await measure(500);
    const costs: { short: number[]; long: number[] } = { short: [], long: [] };
    for (let round = 0; round < 3; round++) {
      costs.short.push(await measure(500));
      costs.long.push(await measure(longest));
    }
    const growth = computeMedianRatio(costs.long, costs.short);
    return {
      workload: "postgres",
      title: "PostgreSQL: time per chunk in a stream",
      columns: [
        { key: "us", title: "us/chunk", format: "us" },
        { key: "growth", title: `${longest}:500`, format: "ratio" },
      ],
      rows: [
        createRow("500 chunks", { us: computeMedian(costs.short) }),
        createRow(`${longest} chunks`, { us: computeMedian(costs.long), growth }, [
          createMaximumTarget(1.3, growth, `${longest}:500`),
        ]),
      ],
    };
  } finally {
    await server.close();
  }
}

/** Creates tasks with one event each. A tenth of the tasks are working, and a context has 100 tasks. */
function renderTasksSql(count: number): string {
  return `
    INSERT INTO colloquy.task (scope, task_id, tenant, principal, agent, context_id, seq, state, status_time, epoch, running)
    SELECT '${computeScopeKey(SCOPE)}', 'task-' || n, '', 'bench', 'bench', 'context-' || n / 100, 1,
      CASE WHEN n % 10 = 0 THEN 'TASK_STATE_WORKING' ELSE 'TASK_STATE_COMPLETED' END,
      to_char(timestamp '2026-01-01' + n * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 0, false
    FROM generate_series(1, ${count}) AS n;
    INSERT INTO colloquy.log (task, seq, lines, has_only_artifacts, committed_at)
    SELECT key, 1, '{"task":{"id":"' || task_id || '","contextId":"' || context_id || '","status":{"state":"' || state
      || '","timestamp":"' || status_time || '"}}}', false, 0
    FROM colloquy.task;`;
}

async function measureLists(url: string, taskCount: number): Promise<ReportTable> {
  const store = new PostgresStore(url);
  await store.open();
  await runTestSql(url, renderTasksSql(taskCount));
  for (const table of ["task", "log"]) await runTestSql(url, `VACUUM ANALYZE colloquy.${table}`);
  const queries: Record<string, TaskListQuery> = {
    "all tasks": { limit: 50 },
    "a state": { limit: 50, status: "TASK_STATE_WORKING" },
    "a rare state": { limit: 50, status: "TASK_STATE_FAILED" },
    "a context": { limit: 50, contextId: "context-42" },
    "a time": { limit: 50, statusSince: "2026-01-01T12:00:00.000Z" },
    "the middle": { limit: 50, after: { timestamp: "2026-01-01T14:00:00.000Z", taskId: "task-1" } },
  };
  const rows: ReportRow[] = [];
  for (const [subject, query] of Object.entries(queries)) {
    const durations: number[] = [];
    for (let run = 0; run < LIST_REPETITIONS; run++) {
      const startedAt = performance.now();
      await store.list(SCOPE, query);
      durations.push(performance.now() - startedAt);
    }
    const ms = computeMedian(durations);
    rows.push(createRow(subject, { ms }, [createMaximumTarget(3, ms, "ms")]));
  }
  await store.close();
  return {
    workload: "postgres",
    title: `PostgreSQL: pages of 50 of ${taskCount.toLocaleString("en-US")} tasks`,
    columns: [{ key: "ms", title: "ms", format: "ms2" }],
    rows,
  };
}
