import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { replayResponses, type BenchmarkContext, type RunningSystem } from "./benchmark-context.ts";
import { buildCommit, copyBuild, type Build } from "./builds.ts";
import { recordHistory } from "./history.ts";
import { computeMedian, computeMedianInterval, computeRatios } from "./interval.ts";
import { countLinesByFolder } from "./lines.ts";
import { countLoadedModules } from "./modules.ts";
import { computeLayerShares, type CpuProfile } from "./profile-layers.ts";
import { createRow, type ReportColumn, type ReportRow, type ReportTable } from "./report.ts";
import type { RecordedResponse } from "./system-process-main.ts";
import { SYSTEM_RECORDED_FOR_BASELINE } from "./systems-under-test.ts";
import {
  CONNECTION_COUNT,
  createGrpcTarget,
  createJobTarget,
  measureCpuTime,
  measureRound,
  TEN_CHUNK_JOB,
  warmUp,
  type RoundResult,
} from "./workloads/throughput.ts";

/** An operation, the systems that are measured with it, and their baseline. */
interface BuildWorkload {
  readonly method: "SendMessage" | "SendStreamingMessage";
  readonly floor: "floor" | "floor-grpc";
  /** System whose response the baseline repeats, with one write for each event. */
  readonly recorded: string;
  /** Systems by the name of their rows. */
  readonly systems: Readonly<Record<string, string>>;
}

const WORKLOADS: Readonly<Record<string, BuildWorkload>> = {
  send: {
    method: "SendMessage",
    floor: "floor",
    recorded: SYSTEM_RECORDED_FOR_BASELINE,
    systems: { "send, memory": "colloquy-memory", "send, SQLite": "colloquy-sqlite" },
  },
  stream: {
    method: "SendStreamingMessage",
    floor: "floor",
    recorded: SYSTEM_RECORDED_FOR_BASELINE,
    systems: { "stream, memory": "colloquy-memory", "stream, SQLite": "colloquy-sqlite" },
  },
  grpc: {
    method: "SendMessage",
    floor: "floor-grpc",
    recorded: "colloquy-grpc-memory",
    systems: { "send, gRPC": "colloquy-grpc-memory" },
  },
  "grpc-stream": {
    method: "SendStreamingMessage",
    floor: "floor-grpc",
    recorded: "colloquy-grpc-memory-unmerged",
    systems: { "stream, gRPC": "colloquy-grpc-memory" },
  },
};

/** Time in milliseconds for which the load generator puts load on a system before it reports. */
const WINDOW_MS = 500;
/** The figures of one process. */
interface ProcessCost extends RoundResult {
  readonly rssMb: number;
  readonly warmUpSeconds: number;
  /** Share of each layer in the CPU time. Empty without the option `--profile`. */
  readonly layers: Readonly<Record<string, number>>;
}

/** The processes of a row in the order of the rounds: those of the baseline, and those of each build. */
interface RowCosts {
  readonly subject: string;
  readonly floor: readonly ProcessCost[];
  readonly builds: readonly ProcessCost[][];
}

/**
 * Measures this checkout, and compares it with the commit of the option `--against`. Each round starts a new process for
 * each build and row, and the builds take turns. The speed of a process depends on what V8 happened to compile and where
 * it placed objects, so that rounds in one process would show less than the difference between two processes.
 */
export async function measureBuilds(
  bench: BenchmarkContext,
  checkout: Build,
  report: (tables: readonly ReportTable[]) => void,
): Promise<void> {
  const { against, record, workloads, rounds, profileDir } = bench.settings;
  const newBuild = copyBuild(checkout);
  const builds = against === undefined ? [newBuild] : [buildCommit(against, bench.logProgress), newBuild];
  const labels = builds.map(({ commit }, at) => `${["old", "new"].at(at - builds.length)} ${commit}`);
  const loadBefore = loadavg()[0] ?? 0;
  const allRows: RowCosts[] = [];
  for (const name of workloads) {
    const rows = await measureWorkload(bench, name, builds);
    allRows.push(...rows);
    report([createCostTable(name, rows, labels)]);
    if (profileDir !== undefined) report(rows.map((row) => createLayerTable(row, labels)));
  }
  if (against !== undefined) report([createChangeTable(allRows)]);
  const modules = await Promise.all(builds.map(({ root }) => countLoadedModules(root)));
  const lines = builds.map(({ sources }) => countLinesByFolder(sources));
  report([
    createCountTable("modules", "Modules that an entry loads, without those of Node", modules, labels),
    createCountTable("lines", "Lines of code without tests", lines, labels),
  ]);
  if (!record) return;
  for (const [at, { commit, date }] of builds.entries())
    recordHistory({
      commit,
      date,
      measured: new Date().toISOString().slice(0, 10),
      rounds,
      load: Math.round(loadBefore * 10) / 10,
      cpuToFloor: Object.fromEntries(
        allRows.map((row) => [row.subject, round(computeFloorRatio(row, at), 2)]),
      ),
      cpuMicros: Object.fromEntries(
        allRows.map(({ subject, builds: costs }) => [
          subject,
          round(computeMedian(costs[at]!.map(getCpu)), 1),
        ]),
      ),
      modules: modules[at]!,
      lines: lines[at]!,
    });
}

/** Measures the systems of a workload in all builds. */
async function measureWorkload(
  bench: BenchmarkContext,
  name: string,
  builds: readonly Build[],
): Promise<RowCosts[]> {
  const workload = WORKLOADS[name]!;
  const { rounds } = bench.settings;
  const responses = await recordResponses(bench, workload, builds.at(-1)!);
  const floor: ProcessCost[] = [];
  const rows = Object.keys(workload.systems).map((subject): RowCosts => ({
    subject,
    floor,
    builds: builds.map(() => []),
  }));
  for (let number = 1; number <= rounds; number++) {
    const measurements = [
      async () => floor.push(await measureProcess(bench, workload, workload.floor, "", responses)),
      ...rows.flatMap(({ subject, builds: costs }) =>
        builds.map(
          ({ root }, at) =>
            async () =>
              costs[at]!.push(await measureProcess(bench, workload, workload.systems[subject]!, root)),
        ),
      ),
    ];
    // The order alternates, so that a machine that becomes slower or faster favors no build.
    for (const measure of number % 2 === 0 ? measurements.toReversed() : measurements) await measure();
    const latest = rows.map(
      ({ subject, builds: costs }) =>
        `${subject} ${costs.map((each) => each.at(-1)!.cpuMicros.toFixed(1)).join(" : ")}`,
    );
    bench.logProgress(
      `  ${name}, round ${number} of ${rounds}: floor ${floor.at(-1)!.cpuMicros.toFixed(1)}, ${latest.join(", ")} µs`,
    );
  }
  return rows;
}

async function recordResponses(
  bench: BenchmarkContext,
  { method, recorded, floor }: BuildWorkload,
  { root }: Build,
): Promise<RecordedResponse[]> {
  return bench.runWithStartedSystems(
    [recorded],
    ([system]) =>
      floor === "floor"
        ? bench.recordResponses(system!, method, TEN_CHUNK_JOB)
        : bench.recordGrpcResponses(system!, { operation: method, job: TEN_CHUNK_JOB }),
    root,
  );
}

/** Starts a system, warms it up, and measures it. */
async function measureProcess(
  bench: BenchmarkContext,
  { method, floor }: BuildWorkload,
  name: string,
  root: string,
  responses: readonly RecordedResponse[] = [],
): Promise<ProcessCost> {
  const { trialMs, rampUpMs } = bench.settings;
  const measure = async (system: RunningSystem): Promise<MeasuredProcess> => {
    await replayResponses(system, responses);
    const target = floor === "floor" ? createJobTarget(system, method) : createGrpcTarget(system, method);
    const load = { connections: CONNECTION_COUNT, rampUpMs, durationMs: WINDOW_MS };
    const warmUpSeconds = await warmUp(bench, target, bench.settings.warmUpMs);
    const startedAt = readMonotonicMicros();
    const result = await measureCpuTime(() => measureRound(bench, target, load), trialMs);
    const window = [startedAt, readMonotonicMicros()] as const;
    const [fault] = result.checked === 0 ? ["no response was complete in time"] : result.faults;
    if (fault !== undefined) throw new Error(`${name} of ${root || "the baseline"}: ${fault}`);
    const { rss } = await system.process.call("measureSettledUsage");
    const { profileFile } = system;
    return { ...result, rssMb: rss / 1024 ** 2, warmUpSeconds, window, profileFile };
  };
  const { window, profileFile, ...cost } = await bench.runWithStartedSystems(
    [name],
    ([system]) => measure(system!),
    root,
  );
  // The process has written its profile at its end.
  const layers = profileFile
    ? computeLayerShares(JSON.parse(readFileSync(profileFile, "utf8")) as CpuProfile, root, window)
    : {};
  return { ...cost, layers };
}

interface MeasuredProcess extends Omit<ProcessCost, "layers"> {
  /** Start and end of the measurement in microseconds of the monotonic clock, which all processes share. */
  readonly window: readonly [number, number];
  readonly profileFile: string | undefined;
}

function readMonotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

function getCpu({ cpuMicros }: ProcessCost): number {
  return cpuMicros;
}

function computeFloorRatio({ floor, builds }: RowCosts, at: number): number {
  return computeMedian(computeRatios(builds[at]!.map(getCpu), floor.map(getCpu)));
}

function createCostTable(
  workload: string,
  rows: readonly RowCosts[],
  labels: readonly string[],
): ReportTable {
  const { method, floor } = WORKLOADS[workload]!;
  return {
    workload,
    title: `${method}, ${floor}, ${TEN_CHUNK_JOB.count} chunks, ${CONNECTION_COUNT} connections, median of ${rows[0]!.floor.length} processes`,
    columns: [
      { key: "cpu", title: "cpu µs", format: "ms" },
      { key: "toFloor", title: "cpu × floor", format: "ratio" },
      { key: "p50", title: "p50 ms", format: "ms2" },
      { key: "p99", title: "p99 ms", format: "ms2" },
      { key: "perSecond", title: "per second", format: "rate" },
      { key: "rss", title: "RSS MB", format: "ms" },
      { key: "events", title: "events", format: "count" },
      { key: "warmUp", title: "warm-up cpu s", format: "ms" },
    ],
    rows: [
      createCostRow(floor, rows[0]!.floor, 1),
      ...rows.flatMap((row) =>
        row.builds.map((costs, at) =>
          createCostRow(`${row.subject}, ${labels[at]}`, costs, computeFloorRatio(row, at)),
        ),
      ),
    ],
  };
}

function createCostRow(subject: string, costs: readonly ProcessCost[], toFloor: number): ReportRow {
  const median = (pick: (cost: ProcessCost) => number): number => computeMedian(costs.map(pick));
  const cells = {
    cpu: median(getCpu),
    toFloor,
    p50: median(({ p50 }) => p50),
    p99: median(({ p99 }) => p99),
    perSecond: median(({ perSecond }) => perSecond),
    rss: median(({ rssMb }) => rssMb),
    events: median(({ eventsPerResponse }) => eventsPerResponse),
    warmUp: median(({ warmUpSeconds }) => warmUpSeconds),
  };
  return { ...createRow(subject, cells), checked: costs.reduce((sum, { checked }) => sum + checked, 0) };
}

/** Creates the table of the CPU time that each layer takes for an answer. */
function createLayerTable({ subject, builds }: RowCosts, labels: readonly string[]): ReportTable {
  const newest = builds.at(-1) ?? [];
  const layers = [...new Set(builds.flat().flatMap((cost) => Object.keys(cost.layers)))];
  return {
    workload: "layers",
    title: `${subject}: CPU µs per answer by layer, with the profiler`,
    columns: labels.map((label, at) => ({ key: String(at), title: label, format: "ms" })),
    rows: layers
      .toSorted((a, b) => computeLayerMicros(b, newest) - computeLayerMicros(a, newest))
      .map((layer) => {
        const cells = builds.map((costs, at) => [String(at), computeLayerMicros(layer, costs)] as const);
        return createRow(layer, Object.fromEntries(cells));
      }),
  };
}

function computeLayerMicros(layer: string, costs: readonly ProcessCost[]): number {
  return computeMedian(costs.map(({ cpuMicros, layers }) => cpuMicros * (layers[layer] ?? 0)));
}

const COMPARED_FIGURES: Readonly<Record<string, (cost: ProcessCost) => number>> = {
  "CPU per answer": getCpu,
  p50: ({ p50 }) => p50,
  p99: ({ p99 }) => p99,
  RSS: ({ rssMb }) => rssMb,
};

function toPercent(ratio: number): number {
  return (ratio - 1) * 100;
}

/** Creates the table of the ratios of the new build to the old build. */
function createChangeTable(rows: readonly RowCosts[]): ReportTable {
  let confidence = 0;
  const tableRows = rows.flatMap(({ subject, builds: [older = [], newer = []] }) =>
    Object.entries(COMPARED_FIGURES).map(([figure, pick]) => {
      const interval = computeMedianInterval(computeRatios(newer.map(pick), older.map(pick)));
      ({ confidence } = interval);
      return createRow(`${subject}: ${figure}`, {
        change: toPercent(interval.median),
        low: toPercent(interval.low),
        high: toPercent(interval.high),
      });
    }),
  );
  const columns: readonly ReportColumn[] = [
    { key: "change", title: "new : old", format: "percent" },
    { key: "low", title: "from", format: "percent" },
    { key: "high", title: "to", format: "percent" },
  ];
  const title = `Change from the old to the new build: median of the ratios of ${rows[0]?.floor.length} rounds, and its sign-test interval (${(confidence * 100).toFixed(1)} %)`;
  return { workload: "change", title, columns, rows: tableRows };
}

/** Creates a table of counts, with one column for each build. */
function createCountTable(
  workload: string,
  title: string,
  counts: readonly Readonly<Record<string, number>>[],
  labels: readonly string[],
): ReportTable {
  const subjects = [...new Set(counts.toReversed().flatMap(Object.keys))];
  return {
    workload,
    title,
    columns: labels.map((label, at) => ({ key: String(at), title: label, format: "count" })),
    rows: subjects.map((subject) =>
      createRow(subject, Object.fromEntries(counts.map((count, at) => [String(at), count[subject]]))),
    ),
  };
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
