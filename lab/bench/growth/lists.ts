import {
  requireRunningSystem,
  rotateList,
  type BenchmarkContext,
  type RunningSystem,
} from "../benchmark-context.ts";
import { buildExpectedText } from "../benchmark-job.ts";
import { computeMedian } from "../interval.ts";
import { createJobRequest, createListRequest } from "../load/request-template.ts";
import type { ThroughputResult } from "../load/response-counter.ts";
import { parseHttpResponse } from "../load/responses.ts";
import { createMaximumTarget, type ReportColumn, type ReportRow, type ReportTable } from "../report.ts";
import type { BenchmarkSettings } from "../settings.ts";
import { TEN_CHUNK_JOB } from "../workloads/throughput.ts";

/** A system under test and the number of tasks in its store. */
interface StoreBySize {
  readonly name: string;
  readonly storedTaskCount: number;
}

const STORES_BY_SIZE: readonly StoreBySize[] = [
  { name: "colloquy-sqlite", storedTaskCount: 0 },
  { name: "colloquy-sqlite-100k", storedTaskCount: 100_000 },
  { name: "colloquy-sqlite-1m", storedTaskCount: 1_000_000 },
];

/** Returns the stores in ascending order of size. A quick run omits the largest store. */
export function selectStoresBySize({ quick }: BenchmarkSettings): readonly StoreBySize[] {
  return quick ? STORES_BY_SIZE.slice(0, -1) : STORES_BY_SIZE;
}

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

const SENDER_COUNT = 4;
const LISTER_COUNT = 4;
/** A blocked server needs seconds for a response, so each measurement takes longer than in other workloads. */
const TRIAL_MS = 3000;
const QUICK_TRIAL_MS = 1000;
const ROUND_COUNT = 3;

interface SendRound {
  readonly alone: ThroughputResult;
  readonly beside: ThroughputResult;
  readonly lists: ThroughputResult;
}

/** Measures `SendMessage` while other clients list the tasks of a state that no task has. */
export async function measureListBesideSend(bench: BenchmarkContext): Promise<ReportTable[]> {
  const names = selectStoresBySize(bench.settings).map(({ name }) => name);
  const roundsByName = new Map(names.map((name) => [name, [] as SendRound[]]));
  await bench.runWithStartedSystems(names, async (systems) => {
    for (const system of systems) await measureSendRound(bench, system);
    for (let round = 0; round < ROUND_COUNT; round++)
      for (const name of rotateList(names, round))
        roundsByName.get(name)!.push(await measureSendRound(bench, requireRunningSystem(systems, name)));
  });
  const emptyRounds = roundsByName.get("colloquy-sqlite")!;
  const rows = names.map((subject) => {
    const rounds = roundsByName.get(subject)!;
    const median = (pick: (round: SendRound) => number): number => computeMedian(rounds.map(pick));
    const toEmpty = computeMedian(
      rounds.map(({ beside }, round) => beside.p50 / (emptyRounds[round]?.beside.p50 ?? Number.NaN)),
    );
    return {
      subject,
      cells: {
        alone: median(({ alone }) => alone.p50),
        beside: median(({ beside }) => beside.p50),
        p99: median(({ beside }) => beside.p99),
        toEmpty,
        lists: median(({ lists }) => lists.perSecond),
      },
      targets: rounds === emptyRounds ? [] : [createMaximumTarget(1.15, toEmpty, "× empty")],
      checked: rounds.reduce(
        (sum, { alone, beside, lists }) => sum + alone.checked + beside.checked + lists.checked,
        0,
      ),
      faults: rounds.flatMap(({ alone, beside, lists }) => [
        ...[alone, beside, lists].flatMap(({ checked }) => (checked === 0 ? ["no response in time"] : [])),
        ...alone.faults,
        ...beside.faults,
        ...lists.faults,
      ]),
    };
  });
  return [
    {
      workload: "list-beside-send",
      title: `SendMessage of ${SENDER_COUNT} clients beside ${LISTER_COUNT} clients that list an absent state`,
      columns: [
        { key: "alone", title: "alone p50 ms", format: "ms2" },
        { key: "beside", title: "p50 ms", format: "ms2" },
        { key: "p99", title: "p99 ms", format: "ms2" },
        { key: "toEmpty", title: "p50 × empty", format: "ratio" },
        { key: "lists", title: "lists/s", format: "rate" },
      ],
      rows,
    },
  ];
}

async function measureSendRound(bench: BenchmarkContext, { endpoint }: RunningSystem): Promise<SendRound> {
  const { rampUpMs, quick } = bench.settings;
  const load = { rampUpMs, durationMs: quick ? QUICK_TRIAL_MS : TRIAL_MS };
  const send = (): Promise<ThroughputResult> =>
    bench.loadGenerator.call("measureThroughput", {
      ...load,
      connections: SENDER_COUNT,
      template: createJobRequest(endpoint, "SendMessage", TEN_CHUNK_JOB),
      expected: { text: buildExpectedText(TEN_CHUNK_JOB.count) },
    });
  const list = (): Promise<ThroughputResult> =>
    bench.loadGenerator.call("measureThroughput", {
      ...load,
      connections: LISTER_COUNT,
      template: createListRequest(endpoint, { status: "TASK_STATE_REJECTED" }),
      expected: { totalSize: 0 },
    });
  const alone = await send();
  const [beside, lists] = await Promise.all([send(), list()]);
  return { alone, beside, lists };
}
