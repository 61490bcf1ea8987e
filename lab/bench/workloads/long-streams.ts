import {
  requireRunningSystem,
  rotateList,
  type BenchmarkContext,
  type RunningSystem,
} from "../benchmark-context.ts";
import { buildExpectedText, type BenchmarkJob } from "../benchmark-job.ts";
import { createJobRequest } from "../load/request-template.ts";
import type { StreamTiming } from "../load/http-measurements.ts";
import { computeMedian, computeMedianRatio } from "../interval.ts";
import {
  createTargets,
  type ReportColumn,
  type ReportRow,
  type ReportTable,
  type TargetLimits,
} from "../report.ts";
import { SYSTEM_RECORDED_FOR_BASELINE } from "../systems-under-test.ts";

const LONG_STREAM_SYSTEMS = [
  "floor",
  "colloquy-memory",
  "colloquy-memory-unmerged",
  "colloquy-sqlite",
  "colloquy-sqlite-unmerged",
  "a2a-js",
];
const LIMITS: Readonly<Record<string, TargetLimits>> = {
  "colloquy-memory": { toFloor: { min: 0.4 }, toA2aJs: { min: 100 }, growth: { max: 1.3 } },
  "colloquy-memory-unmerged": { toFloor: { min: 0.3 }, toA2aJs: { min: 100 }, growth: { max: 1.3 } },
};

const CHUNK_COUNTS = [500, 2000, 8000] as const;
const [SMALL, , LARGE] = CHUNK_COUNTS;
/** This system needs seconds to minutes per stream, so each size is measured once in a separate process. */
const SLOW_SYSTEM_NAME = "a2a-js";
/** Time in milliseconds. A longer stream is measured only in the first round. */
const MAX_REPEATED_STREAM_MS = 1000;
/** Timeout of a stream in milliseconds. `SLOW_SYSTEM_NAME` has the timeout `settings.streamTimeoutMs` instead. */
const STREAM_TIMEOUT_MS = 60_000;

const TABLE_TITLES_BY_JOB_KIND: Record<"turns" | "chunks", string> = {
  turns: "One stream, each chunk in its own turn of the event loop",
  chunks: "One stream, chunks as fast as the agent can make them",
};

/** Measures single long streams, which shows whether the cost per chunk grows with the length of the task. */
export async function measureLongStreams(bench: BenchmarkContext): Promise<ReportTable[]> {
  // A quick run omits the stores that write each chunk to disk, because they are slow.
  const quickSystems = LONG_STREAM_SYSTEMS.filter((name) => !name.includes("sqlite"));
  if (bench.settings.quick) return [await measureLongStreamsForReportTable(bench, quickSystems, "turns")];
  // `SLOW_SYSTEM_NAME` is as slow with immediate chunks as with separate turns, so it is measured once.
  const fastSystems = LONG_STREAM_SYSTEMS.filter((name) => name !== SLOW_SYSTEM_NAME);
  return [
    await measureLongStreamsForReportTable(bench, LONG_STREAM_SYSTEMS, "turns"),
    await measureLongStreamsForReportTable(bench, fastSystems, "chunks"),
  ];
}

async function measureLongStreamsForReportTable(
  bench: BenchmarkContext,
  names: readonly string[],
  kind: "turns" | "chunks",
): Promise<ReportTable> {
  bench.logProgress(`  ${TABLE_TITLES_BY_JOB_KIND[kind]}`);
  const times = await bench.runWithStartedSystems(
    names.filter((name) => name !== SLOW_SYSTEM_NAME),
    (systems) => measureSystemsInRounds(bench, systems, kind),
  );
  if (names.includes(SLOW_SYSTEM_NAME))
    times.set(SLOW_SYSTEM_NAME, await measureSlowSystemInNewProcesses(bench, kind));
  return {
    workload: "chunks",
    title: `${TABLE_TITLES_BY_JOB_KIND[kind]} (${CHUNK_COUNTS.map((size) => size.toLocaleString("en-US")).join(", ")} chunks of 16 bytes)`,
    columns: LONG_STREAM_TABLE_COLUMNS,
    rows: names.map((subject) => createLongStreamReportRow(subject, times, kind)),
  };
}

const LONG_STREAM_TABLE_COLUMNS: readonly ReportColumn[] = [
  ...CHUNK_COUNTS.map((size): ReportColumn => ({ key: `ms${size}`, title: `${size} ms`, format: "ms" })),
  { key: "perSecond", title: "chunks/s", format: "rate" },
  { key: "toFloor", title: "× floor", format: "ratio" },
  { key: "toA2aJs", title: "× a2a-js", format: "ratio" },
  { key: "growth", title: `${LARGE}:${SMALL} per chunk`, format: "ratio" },
  { key: "events", title: "events", format: "count" },
];

type TimingsBySystem = Map<string, Map<number, StreamTiming[]>>;

async function measureSystemsInRounds(
  bench: BenchmarkContext,
  systems: readonly RunningSystem[],
  kind: BenchmarkJob["kind"],
): Promise<TimingsBySystem> {
  for (const count of CHUNK_COUNTS)
    await bench.recordForBaseline(systems, SYSTEM_RECORDED_FOR_BASELINE, "SendStreamingMessage", {
      kind,
      count,
    });
  const times: TimingsBySystem = new Map(
    systems.map(({ name }) => [name, new Map(CHUNK_COUNTS.map((size) => [size, []]))]),
  );
  for (const { name } of systems) {
    for (let round = 0; round < 3; round++)
      await measureSingleLongStream(
        bench,
        requireRunningSystem(systems, name),
        { kind, count: SMALL },
        STREAM_TIMEOUT_MS,
      );
  }
  for (let round = 0; round < bench.settings.rounds; round++) {
    bench.logProgress(`  round ${round + 1} of ${bench.settings.rounds}`);
    for (const system of rotateList(systems, round)) {
      for (const count of CHUNK_COUNTS) {
        const timings = times.get(system.name)!.get(count)!;
        if (timings[0] && timings[0].durationMs > MAX_REPEATED_STREAM_MS) continue;
        timings.push(await measureSingleLongStream(bench, system, { kind, count }, STREAM_TIMEOUT_MS));
      }
    }
  }
  return times;
}

/** Measures each stream in a new process, because a stream that was stopped continues in its process. */
async function measureSlowSystemInNewProcesses(
  bench: BenchmarkContext,
  kind: BenchmarkJob["kind"],
): Promise<Map<number, StreamTiming[]>> {
  const results = new Map<number, StreamTiming[]>();
  for (const count of CHUNK_COUNTS) {
    bench.logProgress(`  ${SLOW_SYSTEM_NAME}, ${count} chunks`);
    const timing = bench.runWithStartedSystems([SLOW_SYSTEM_NAME], async ([system]) => {
      await measureSingleLongStream(bench, system!, { kind, count: 10 }, STREAM_TIMEOUT_MS);
      return measureSingleLongStream(bench, system!, { kind, count }, bench.settings.streamTimeoutMs);
    });
    results.set(count, [await timing]);
  }
  return results;
}

function measureSingleLongStream(
  bench: BenchmarkContext,
  { endpoint }: RunningSystem,
  job: BenchmarkJob,
  timeoutMs: number,
): Promise<StreamTiming> {
  return bench.loadGenerator.call("measureStreamTiming", {
    template: createJobRequest(endpoint, "SendStreamingMessage", job),
    expectedText: buildExpectedText(job.count),
    timeoutMs,
  });
}

function createLongStreamReportRow(subject: string, times: TimingsBySystem, kind: string): ReportRow {
  const listTimings = (name: string, count: number): StreamTiming[] => times.get(name)?.get(count) ?? [];
  const listSpeeds = (name: string): number[] =>
    listTimings(name, LARGE).map(({ durationMs }) => (LARGE / durationMs) * 1000);
  const longTimings = listTimings(subject, LARGE);
  const toFloor = computeMedianRatio(listSpeeds(subject), listSpeeds("floor"));
  // Each round is compared with the single stream that was measured for that system.
  const toA2aJs = computeMedian(listSpeeds(subject)) / computeMedian(listSpeeds(SLOW_SYSTEM_NAME));
  const perChunk = (count: number): number =>
    computeMedian(listTimings(subject, count).map(({ durationMs }) => durationMs / count));
  const growth = perChunk(LARGE) / perChunk(SMALL);
  const hasTimedOut = (name: string): boolean => listTimings(name, LARGE).some(({ hasEnded }) => !hasEnded);
  const bounds: Record<string, "<" | ">"> = {};
  if (hasTimedOut(subject))
    Object.assign(bounds, { [`ms${LARGE}`]: ">", perSecond: "<", toFloor: "<", growth: ">" });
  const isBound = hasTimedOut(SLOW_SYSTEM_NAME) && subject !== SLOW_SYSTEM_NAME;
  if (isBound) bounds["toA2aJs"] = ">";
  const cells = {
    ...Object.fromEntries(
      CHUNK_COUNTS.map((count) => [
        `ms${count}`,
        computeMedian(listTimings(subject, count).map(({ durationMs }) => durationMs)),
      ]),
    ),
    perSecond: computeMedian(listSpeeds(subject)),
    toFloor,
    toA2aJs,
    growth,
    events: computeMedian(longTimings.map(({ events }) => events)),
  };
  const timings = CHUNK_COUNTS.flatMap((count) => listTimings(subject, count));
  return {
    subject,
    cells,
    bounds,
    targets: kind === "turns" ? createTargets(LIMITS[subject], cells, LONG_STREAM_TABLE_COLUMNS, bounds) : [],
    checked: timings.filter(({ hasEnded }) => hasEnded).length,
    faults: timings.flatMap(({ faults }) => faults),
  };
}
