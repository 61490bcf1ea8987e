import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type A2AClient } from "../../../src/entries/client.ts";
import {
  createTestDatabase,
  runTestSql,
  startTestPostgres,
} from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { startComposeNode, type ComposeProcess } from "../../../test/documents/deploy/compose-parts.ts";
import type { BenchmarkContext } from "../benchmark-context.ts";
import { createRow, type ReportTable } from "../report.ts";

const CONNECTIONS = 32;
const WARM_UP_TASKS = 1000;
const TOKEN = "postgres-sizing-token";
const MS_PER_TICK = 1000 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

interface Consumption {
  readonly nodeCpuMs: number;
  readonly databaseCpuMs: number;
  readonly storedBytes: number;
  readonly walBytes: number;
}

/** Returns the fields of a process from its state on, or `undefined` if the process has ended. */
function readProcessFields(pid: string): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
  } catch {
    return undefined;
  }
}

/** Returns the CPU time of a process and of its ended children in milliseconds. */
function readCpuMs(pid: string): number {
  const ticks = readProcessFields(pid)?.slice(11, 15) ?? [];
  return ticks.reduce((sum, text) => sum + Number(text) * MS_PER_TICK, 0);
}

/** Returns the ids of a process and its children. */
function listProcessIds(parent: string): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return [parent, ...pids.filter((pid) => readProcessFields(pid)?.[1] === parent)];
}

async function readConsumption(databaseUrl: string, node: ComposeProcess): Promise<Consumption> {
  const [row] = await runTestSql(
    databaseUrl,
    `SELECT (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'colloquy'::regnamespace)::text AS stored_bytes,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS wal_bytes`,
  );
  return {
    nodeCpuMs: readCpuMs(String(node.process.pid)),
    databaseCpuMs: listProcessIds(await findPostmaster(databaseUrl)).reduce(
      (sum, pid) => sum + readCpuMs(pid),
      0,
    ),
    storedBytes: Number(row?.["stored_bytes"]),
    walBytes: Number(row?.["wal_bytes"]),
  };
}

async function findPostmaster(databaseUrl: string): Promise<string> {
  const [row] = await runTestSql(
    databaseUrl,
    "SELECT (regexp_split_to_array(pg_read_file('postmaster.pid'), '\\n'))[1] AS pid",
  );
  return String(row?.["pid"]);
}

async function runTasks(client: A2AClient, tasks: number): Promise<void> {
  let started = 0;
  const runNext = async (): Promise<void> => {
    while (started++ < tasks) await client.ask("Ada");
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, runNext));
}

/**
 * Measures what a task of `deploy/agents/hello.ts` costs a node and its PostgreSQL server: CPU time, bytes of tables and
 * indexes, and bytes of the write-ahead log. CPU time depends little on other programs, so the machine need not be idle.
 */
export async function measurePostgresSizing({ settings }: BenchmarkContext): Promise<ReportTable[]> {
  const taskCount = settings.quick ? 1000 : 6000;
  const postgres = await startTestPostgres({ fsync: "on", full_page_writes: "on", shared_buffers: "256MB" });
  try {
    const databaseUrl = await createTestDatabase(postgres.url, "sizing");
    const node = await startComposeNode({ databaseUrl, agents: "deploy/agents", token: TOKEN });
    const client = await connect(node.url, { auth: { bearer: TOKEN } });
    await runTasks(client, WARM_UP_TASKS);
    const before = await readConsumption(databaseUrl, node);
    const startedAt = performance.now();
    await runTasks(client, taskCount);
    const seconds = (performance.now() - startedAt) / 1000;
    const after = await readConsumption(databaseUrl, node);
    const perTask = (name: keyof Consumption): number => (after[name] - before[name]) / taskCount;
    const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${node.process.pid}/status`, "utf8"))?.[1];
    await node.kill();
    return [
      {
        workload: "postgres-sizing",
        title: `Cost of a task in a node and its PostgreSQL server, ${CONNECTIONS} at a time`,
        columns: [
          { key: "perSecond", title: "tasks/s", format: "rate" },
          { key: "nodeCpu", title: "node cpu ms", format: "ms2" },
          { key: "databaseCpu", title: "PostgreSQL cpu ms", format: "ms2" },
          { key: "stored", title: "bytes stored", format: "count" },
          { key: "wal", title: "bytes of WAL", format: "count" },
          { key: "memory", title: "node MiB", format: "count" },
        ],
        rows: [
          createRow(`${taskCount} tasks`, {
            perSecond: taskCount / seconds,
            nodeCpu: perTask("nodeCpuMs"),
            databaseCpu: perTask("databaseCpuMs"),
            stored: perTask("storedBytes"),
            wal: perTask("walBytes"),
            memory: Number(memory) / 1024,
          }),
        ],
      },
    ];
  } finally {
    await postgres.remove();
  }
}
