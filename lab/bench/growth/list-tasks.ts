import { requireRunningSystem, type BenchmarkContext, type RunningSystem } from "../benchmark-context.ts";
import { parseHttpResponse } from "../load/http-response.ts";
import { createListRequest } from "../load/request-template.ts";
import {
  computeMedian,
  createMaximumTarget,
  type ReportColumn,
  type ReportRow,
  type ReportTable,
} from "../report.ts";
import { selectStoresBySize } from "./stores-by-size.ts";

/** Parts of a response to `ListTasks` that the filters need. */
interface TaskListResult {
  readonly tasks: readonly { readonly contextId: string; readonly status: { readonly timestamp: string } }[];
  readonly totalSize: number;
  readonly nextPageToken?: string;
}

const COLUMNS: readonly ReportColumn[] = [
  { key: "loop", title: "loop ms", format: "ms2" },
  { key: "cpu", title: "cpu µs", format: "us" },
  { key: "p50", title: "p50 ms", format: "ms2" },
  { key: "p99", title: "p99 ms", format: "ms2" },
  { key: "total", title: "total", format: "rate" },
];

/** Measures `ListTasks` without artifacts for each filter, one request at a time. */
export async function measureListTasks(bench: BenchmarkContext): Promise<ReportTable[]> {
  const stores = selectStoresBySize(bench.settings).filter(({ storedTaskCount }) => storedTaskCount > 0);
  const tables: ReportTable[] = [];
  for (const { name, storedTaskCount } of stores) {
    const rows = await bench.runWithStartedSystems([name], async (systems) => {
      const system = requireRunningSystem(systems, name);
      const filters = await createFilters(bench, system);
      const measured: ReportRow[] = [];
      for (const [subject, params] of Object.entries(filters))
        measured.push(await measureFilter(bench, system, subject, params));
      return measured;
    });
    const title = `ListTasks without artifacts, ${storedTaskCount.toLocaleString("en-US")} stored tasks, one request at a time`;
    tables.push({ workload: "list-tasks", title, columns: COLUMNS, rows });
  }
  return tables;
}

/** Creates the parameters of `ListTasks` by description. */
async function createFilters(
  bench: BenchmarkContext,
  system: RunningSystem,
): Promise<Record<string, Record<string, unknown>>> {
  const newest = await listTasks(bench, system, { pageSize: 100 });
  const { contextId, status } = newest.tasks.at(-1)!;
  const pageToken = newest.nextPageToken;
  const inContext = { contextId };
  const since = { statusTimestampAfter: status.timestamp };
  const completed = { status: "TASK_STATE_COMPLETED" };
  const failed = { status: "TASK_STATE_FAILED" };
  const absent = { status: "TASK_STATE_REJECTED" };
  const longAgo = { statusTimestampAfter: "2000-01-01T00:00:00.000Z" };
  return {
    "no filter": {},
    "second page": { pageToken },
    "frequent state": completed,
    "rare state": failed,
    "absent state": absent,
    context: inContext,
    "context, frequent state": { ...inContext, ...completed },
    "context, absent state": { ...inContext, ...absent },
    "since the newest 100": since,
    "since the oldest": longAgo,
    "rare state, since the newest 100": { ...failed, ...since },
    "rare state, since the oldest": { ...failed, ...longAgo },
    "absent state, since the oldest": { ...absent, ...longAgo },
  };
}

async function measureFilter(
  bench: BenchmarkContext,
  system: RunningSystem,
  subject: string,
  params: Record<string, unknown>,
): Promise<ReportRow> {
  bench.logProgress(`  ${subject}`);
  const { totalSize } = await listTasks(bench, system, params);
  const rounds: { loop: number; cpu: number; p50: number; p99: number; faults: readonly string[] }[] = [];
  for (let round = 0; round < bench.settings.rounds; round++) {
    const before = await system.process.call("getResourceUsage");
    const result = await bench.loadGenerator.call("measureThroughput", {
      template: createListRequest(system.endpoint, params),
      connections: 1,
      rampUpMs: 0,
      durationMs: bench.settings.trialMs,
      expected: { totalSize },
    });
    const after = await system.process.call("getResourceUsage");
    rounds.push({
      loop: (after.loopMs - before.loopMs) / result.completed,
      cpu: ((after.cpuMs - before.cpuMs) * 1000) / result.completed,
      ...result,
    });
  }
  const loop = computeMedian(rounds.map((round) => round.loop));
  return {
    subject,
    cells: {
      loop,
      cpu: computeMedian(rounds.map(({ cpu }) => cpu)),
      p50: computeMedian(rounds.map(({ p50 }) => p50)),
      p99: computeMedian(rounds.map(({ p99 }) => p99)),
      total: totalSize,
    },
    targets: [createMaximumTarget(1, loop, "loop ms")],
    checked: rounds.length,
    faults: rounds.flatMap(({ faults }) => faults),
  };
}

async function listTasks(
  bench: BenchmarkContext,
  { endpoint }: RunningSystem,
  params: object,
): Promise<TaskListResult> {
  const answer = await bench.loadGenerator.call("sendOnce", createListRequest(endpoint, params));
  const { body } = parseHttpResponse(Buffer.from(answer, "latin1"));
  const { result } = JSON.parse(body) as { result?: TaskListResult };
  if (!result) throw new Error(body.slice(0, 300));
  return result;
}
