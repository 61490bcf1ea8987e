import { requireRunningSystem, type BenchmarkContext, type RunningSystem } from "../benchmark-context.ts";
import { buildExpectedText } from "../benchmark-job.ts";
import { createJobRequest, type RequestDialect, type A2AMethod } from "../load/request-template.ts";
import { computeMedianRatio, type ReportRow, type ReportTable } from "../report.ts";
import {
  SYSTEM_RECORDED_FOR_BASELINE,
  SEND_SYSTEMS,
  STREAM_SYSTEMS,
  V0_3_STREAM_SYSTEMS,
  type SystemName,
} from "../systems-under-test.ts";
import {
  createV03ToV1CostRatioTarget,
  SEND_PERFORMANCE_TARGETS,
  STREAM_PERFORMANCE_TARGETS,
  type TargetsBySystem,
  type ThroughputRatios,
} from "../performance-targets.ts";
import {
  CONNECTION_COUNT,
  LATENCY_COLUMNS,
  TEN_CHUNK_JOB,
  measureThroughputRounds,
  type LoadTarget,
} from "./throughput-rounds.ts";

/** Label of the row in which the baseline writes each event of a stream separately. */
const FLOOR_PER_EVENT = "floor, write per event";

/** Measures `SendMessage` with ten chunks. */
export function measureSend(bench: BenchmarkContext): Promise<ReportTable[]> {
  return measureA2AMethodThroughput(bench, "send", "SendMessage", SEND_SYSTEMS, SEND_PERFORMANCE_TARGETS);
}

/**
 * Measures `SendStreamingMessage` with ten chunks. Colloquy's servers are also measured with `message/stream`
 * of A2A 0.3 in the same process.
 */
export function measureStreaming(bench: BenchmarkContext): Promise<ReportTable[]> {
  return measureA2AMethodThroughput(
    bench,
    "stream",
    "SendStreamingMessage",
    STREAM_SYSTEMS,
    STREAM_PERFORMANCE_TARGETS,
    V0_3_STREAM_SYSTEMS,
  );
}

async function measureA2AMethodThroughput(
  bench: BenchmarkContext,
  workload: string,
  method: A2AMethod,
  names: readonly SystemName[],
  targetsBySystem: TargetsBySystem,
  v03Systems: readonly SystemName[] = [],
): Promise<ReportTable[]> {
  const isStreamed = method === "SendStreamingMessage";
  const results = await bench.runWithStartedSystems(names, async (systems) => {
    await bench.recordResponseForBaselineReplay(systems, SYSTEM_RECORDED_FOR_BASELINE, method, TEN_CHUNK_JOB);
    const createTarget = (
      label: string,
      system: RunningSystem,
      dialect: RequestDialect = system.endpoint.dialect,
    ): LoadTarget => ({
      label,
      system,
      request: createJobRequest({ ...system.endpoint, dialect }, method, TEN_CHUNK_JOB),
      expectedText: buildExpectedText(TEN_CHUNK_JOB.count),
    });
    const entries = names.flatMap((name) => {
      const system = requireRunningSystem(systems, name);
      if (name === "floor" && isStreamed)
        return [createTarget(name, system, "floor-at-once"), createTarget(FLOOR_PER_EVENT, system)];
      const row = createTarget(name, system);
      return v03Systems.includes(name) ? [row, createTarget(formatV03Label(name), system, "0.3")] : [row];
    });
    return measureThroughputRounds(bench, entries, CONNECTION_COUNT);
  });
  const floor = results.get("floor")!;
  const a2aJs = results.get("a2a-js")!.perSecond;
  const rows = names.flatMap((name) => {
    const newer = results.get(name)!;
    const createRow = (
      subject: string,
      targetsFor: (ratios: ThroughputRatios) => ReportRow["targets"],
    ): ReportRow => {
      const rates = results.get(subject)!;
      const ratios = {
        toBaseline: computeMedianRatio(rates.perSecond, floor.perSecond),
        cpuToBaseline: computeMedianRatio(rates.cpuMicros, floor.cpuMicros),
        toA2aJs: computeMedianRatio(rates.perSecond, a2aJs),
      };
      const { checkedResponseCount: checked, responseFaults: faults } = rates;
      return {
        subject,
        cells: { ...rates.tableCells, ...ratios },
        targets: targetsFor(ratios),
        checked,
        faults,
      };
    };
    const own = createRow(name, (ratios) => targetsBySystem[name]?.(ratios) ?? []);
    if (name === "floor" && isStreamed) return [own, createRow(FLOOR_PER_EVENT, () => [])];
    if (!v03Systems.includes(name)) return [own];
    const cost = computeMedianRatio(newer.perSecond, results.get(formatV03Label(name))!.perSecond);
    const row = createRow(formatV03Label(name), () => [createV03ToV1CostRatioTarget(cost)]);
    return [own, { ...row, cells: { ...row.cells, cost } }];
  });
  return [
    {
      workload,
      title: `${method}, ${TEN_CHUNK_JOB.count} chunks, ${CONNECTION_COUNT} connections`,
      columns: [
        { key: "perSecond", title: "per second", format: "rate" },
        { key: "toBaseline", title: "× floor", format: "ratio" },
        { key: "cpuToBaseline", title: "cpu × floor", format: "ratio" },
        { key: "toA2aJs", title: "× a2a-js", format: "ratio" },
        ...(v03Systems.length > 0 ? [{ key: "cost", title: "cost/1.0", format: "ratio" } as const] : []),
        ...LATENCY_COLUMNS,
      ],
      rows,
    },
  ];
}

function formatV03Label(name: SystemName): string {
  return `${name}, 0.3`;
}
