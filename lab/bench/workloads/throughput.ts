import {
  requireRunningSystem,
  rotateList,
  type BenchmarkContext,
  type RunningSystem,
} from "../benchmark-context.ts";
import { buildExpectedText, type BenchmarkJob } from "../benchmark-job.ts";
import { computeMedian, computeMedianRatio } from "../interval.ts";
import type { GrpcJobRequest } from "../load/grpc.ts";
import { createJobRequest, type A2AMethod, type RequestTemplate } from "../load/request-template.ts";
import type { LoadOptions, ThroughputResult } from "../load/response-counter.ts";
import {
  createTargets,
  type ReportColumn,
  type ReportRow,
  type ReportTable,
  type TargetLimits,
} from "../report.ts";

/** Job of the workloads that measure requests. */
export const TEN_CHUNK_JOB: BenchmarkJob = { kind: "chunks", count: 10 };
/** Number of connections of the workloads that measure requests. */
export const CONNECTION_COUNT = 32;

/** CPU time in milliseconds of one measurement of the warm-up. */
const WARM_UP_STEP_CPU_MS = 1000;
/** Number of measurements of the warm-up that are compared with as many earlier measurements. */
const WARM_UP_STEPS = 2;
/** Time in milliseconds for which the load generator puts load on a system before it reports in the warm-up. */
const WARM_UP_WINDOW_MS = 500;
/** A measurement ends after this many times its CPU time, if other programs use the core. */
const MAX_WALL_TIME_RATIO = 8;
/** The warm-up ends when the CPU time per response has fallen by less than this ratio from one group of steps to the next. */
const WARM_UP_TOLERANCE = 0.02;

/** A system under test and the request that it receives. */
export interface LoadTarget {
  readonly label: string;
  readonly system: RunningSystem;
  /** Request over HTTP or gRPC. */
  readonly request: RequestTemplate | GrpcJobRequest;
  /** Text that every response must contain. */
  readonly expectedText: string;
}

/** Result of one system in one round. */
export interface RoundResult extends ThroughputResult {
  /** CPU time of the system's process per response. */
  readonly cpuMicros: number;
}

/** Creates the target that sends a job to a running system. */
export function createJobTarget(
  system: RunningSystem,
  method: A2AMethod,
  job: BenchmarkJob = TEN_CHUNK_JOB,
  expectedText: string = buildExpectedText(job.count),
): LoadTarget {
  const request = createJobRequest(system.endpoint, method, job);
  return { label: system.name, system, request, expectedText };
}

/** Creates the target that sends the job of ten chunks over gRPC. */
export function createGrpcTarget(
  system: RunningSystem,
  operation: "SendMessage" | "SendStreamingMessage",
): LoadTarget {
  return {
    label: system.name,
    system,
    request: { endpoint: system.endpoint, operation, job: TEN_CHUNK_JOB },
    expectedText: buildExpectedText(TEN_CHUNK_JOB.count),
  };
}

/** Puts load on a system for some time. */
export async function measureRound(
  { loadGenerator }: BenchmarkContext,
  { system, request, expectedText }: LoadTarget,
  load: LoadOptions,
): Promise<RoundResult> {
  const before = await system.process.call("getResourceUsage");
  const result = await ("job" in request
    ? loadGenerator.call("measureGrpcThroughput", { ...load, request, expectedText })
    : loadGenerator.call("measureThroughput", {
        ...load,
        template: request,
        expected: { text: expectedText },
      }));
  const after = await system.process.call("getResourceUsage");
  return { ...result, cpuMicros: ((after.cpuMs - before.cpuMs) * 1000) / result.completed };
}

/**
 * Puts load on a system until its process has used the given CPU time, and combines the measurements. On a quiet machine,
 * CPU time and time are about equal. On a busy machine, a process so handles as many requests as on a quiet one.
 */
export async function measureCpuTime(
  measure: () => Promise<RoundResult>,
  cpuMs: number,
): Promise<RoundResult> {
  const startedAt = performance.now();
  const results: RoundResult[] = [];
  const sum = (pick: (result: RoundResult) => number): number =>
    results.reduce((total, result) => total + pick(result), 0);
  const median = (pick: (result: RoundResult) => number): number => computeMedian(results.map(pick));
  let usedMs = 0;
  while (usedMs < cpuMs && performance.now() - startedAt < cpuMs * MAX_WALL_TIME_RATIO) {
    const result = await measure();
    results.push(result);
    usedMs += (result.cpuMicros * result.completed) / 1000;
  }
  const completed = sum((result) => result.completed);
  return {
    perSecond: median(({ perSecond }) => perSecond),
    p50: median(({ p50 }) => p50),
    p99: median(({ p99 }) => p99),
    completed,
    checked: sum(({ checked }) => checked),
    faults: results.flatMap(({ faults }) => faults),
    eventsPerResponse: median(({ eventsPerResponse }) => eventsPerResponse),
    cpuMicros: (usedMs * 1000) / completed,
  };
}

/**
 * Puts load on a system until its CPU time per response no longer falls, which takes V8 more than 10,000 responses.
 * Returns the CPU time in seconds.
 */
export async function warmUp(
  bench: BenchmarkContext,
  target: LoadTarget,
  maxCpuMs: number,
  connections: number = CONNECTION_COUNT,
): Promise<number> {
  const stepMs = Math.min(WARM_UP_STEP_CPU_MS, maxCpuMs);
  const load = { connections, rampUpMs: 0, durationMs: Math.min(WARM_UP_WINDOW_MS, maxCpuMs) };
  const values: number[] = [];
  while (values.length * stepMs < maxCpuMs) {
    values.push((await measureCpuTime(() => measureRound(bench, target, load), stepMs)).cpuMicros);
    const latest = computeMedian(values.slice(-WARM_UP_STEPS));
    const before = computeMedian(values.slice(-2 * WARM_UP_STEPS, -WARM_UP_STEPS));
    if (values.length >= 2 * WARM_UP_STEPS && latest > before * (1 - WARM_UP_TOLERANCE)) break;
  }
  return (values.length * stepMs) / 1000;
}

/** Rounds of each system by label. */
export type RoundsByLabel = ReadonlyMap<string, readonly RoundResult[]>;

/** Measures all targets one at a time, in rounds. */
async function measureRounds(
  bench: BenchmarkContext,
  targets: readonly LoadTarget[],
  connections: number,
): Promise<RoundsByLabel> {
  const { rounds, rampUpMs, trialMs, warmUpMs } = bench.settings;
  const results = new Map<string, RoundResult[]>(targets.map(({ label }) => [label, []]));
  for (const target of targets) await warmUp(bench, target, warmUpMs, connections);
  for (let round = 0; round < rounds; round++) {
    bench.logProgress(`  round ${round + 1} of ${rounds}`);
    for (const target of rotateList(targets, round)) {
      const load = { connections, rampUpMs, durationMs: trialMs };
      results.get(target.label)?.push(await measureRound(bench, target, load));
    }
  }
  return results;
}

/** A column that divides a figure of a row by the same figure of another row, as a median over the rounds. */
export interface RatioColumn {
  readonly key: string;
  readonly title: string;
  /** Requests per second, CPU time per response, or time per response. */
  readonly figure: "rate" | "cpu" | "time";
  /** Label of the other row. `undefined` for a row without this cell. */
  readonly to: string | ((label: string) => string | undefined);
}

/** A table of throughputs: its systems, their requests, and the ratios between them. */
export interface ThroughputTable {
  readonly workload: string;
  readonly title: string;
  readonly systems: readonly string[];
  readonly connections?: number;
  /** Returns the targets of the running systems, after it has prepared the systems. */
  readonly createLoadTargets: (
    findSystem: (name: string) => RunningSystem,
    systems: readonly RunningSystem[],
  ) => readonly LoadTarget[] | Promise<readonly LoadTarget[]>;
  readonly ratios: readonly RatioColumn[];
  readonly limits?: Readonly<Record<string, TargetLimits>>;
  /** Returns further cells of a row. `columns` describes them. */
  readonly addCells?: (label: string, rounds: RoundsByLabel) => Readonly<Record<string, number>>;
  readonly columns?: readonly ReportColumn[];
}

const FIGURES: Record<RatioColumn["figure"], (round: RoundResult) => number> = {
  rate: ({ perSecond }) => perSecond,
  cpu: ({ cpuMicros }) => cpuMicros,
  time: ({ perSecond }) => 1 / perSecond,
};

/** Measures the systems of a table. */
export async function measureThroughputTable(
  bench: BenchmarkContext,
  {
    workload,
    title,
    systems,
    connections = CONNECTION_COUNT,
    ratios,
    limits = {},
    ...table
  }: ThroughputTable,
): Promise<ReportTable> {
  const results = await bench.runWithStartedSystems(systems, async (running) => {
    const targets = await table.createLoadTargets((name) => requireRunningSystem(running, name), running);
    return measureRounds(bench, targets, connections);
  });
  const columns: readonly ReportColumn[] = [
    { key: "perSecond", title: "per second", format: "rate" },
    ...ratios.map(({ key, title: column }) => ({ key, title: column, format: "ratio" }) as const),
    ...(table.columns ?? []),
    { key: "p50", title: "p50 ms", format: "ms" },
    { key: "p99", title: "p99 ms", format: "ms" },
    { key: "cpu", title: "cpu µs", format: "us" },
    { key: "events", title: "events", format: "count" },
  ];
  const rows = [...results].map(([subject, rounds]): ReportRow => {
    const median = (pick: (round: RoundResult) => number): number => computeMedian(rounds.map(pick));
    const cells: Record<string, number> = {
      perSecond: median(({ perSecond }) => perSecond),
      p50: median(({ p50 }) => p50),
      p99: median(({ p99 }) => p99),
      cpu: median(({ cpuMicros }) => cpuMicros),
      events: median(({ eventsPerResponse }) => eventsPerResponse),
      ...table.addCells?.(subject, results),
    };
    for (const { key, figure, to } of ratios) {
      const others = results.get((typeof to === "string" ? to : to(subject)) ?? "");
      if (others) cells[key] = computeMedianRatio(rounds.map(FIGURES[figure]), others.map(FIGURES[figure]));
    }
    const checked = rounds.reduce((sum, round) => sum + round.checked, 0);
    const faults = rounds.flatMap((round) => round.faults);
    return {
      subject,
      cells,
      targets: createTargets(limits[subject], cells, columns),
      checked,
      faults: checked === 0 ? ["no response was complete in time"] : faults,
    };
  });
  return { workload, title, columns, rows };
}
