import { requireRunningSystem, type BenchmarkContext } from "../benchmark-context.ts";
import { buildExpectedText } from "../benchmark-job.ts";
import { computeMedianRatio, type ReportTable } from "../report.ts";
import { SYSTEMS_MEASURED_OVER_GRPC } from "../systems-under-test.ts";
import {
  CONNECTION_COUNT,
  LATENCY_COLUMNS,
  TEN_CHUNK_JOB,
  measureThroughputRounds,
} from "./throughput-rounds.ts";

/** Measures `SendMessage` and `SendStreamingMessage` with ten chunks over gRPC. */
export async function measureGrpc(bench: BenchmarkContext): Promise<ReportTable[]> {
  return [
    await measureGrpcOperationThroughput(bench, "SendMessage"),
    await measureGrpcOperationThroughput(bench, "SendStreamingMessage"),
  ];
}

async function measureGrpcOperationThroughput(
  bench: BenchmarkContext,
  operation: "SendMessage" | "SendStreamingMessage",
): Promise<ReportTable> {
  const results = await bench.runWithStartedSystems(SYSTEMS_MEASURED_OVER_GRPC, (systems) => {
    const entries = SYSTEMS_MEASURED_OVER_GRPC.map((name) => {
      const system = requireRunningSystem(systems, name);
      const template = { endpoint: system.endpoint, operation, job: TEN_CHUNK_JOB };
      return {
        label: name,
        system,
        request: template,
        expectedText: buildExpectedText(TEN_CHUNK_JOB.count),
      };
    });
    return measureThroughputRounds(bench, entries, CONNECTION_COUNT);
  });
  const a2aJs = results.get("a2a-js-grpc")!.perSecond;
  return {
    workload: "grpc",
    title: `${operation} over gRPC, ${TEN_CHUNK_JOB.count} chunks, ${CONNECTION_COUNT} connections`,
    columns: [
      { key: "perSecond", title: "per second", format: "rate" },
      { key: "toA2aJs", title: "× a2a-js", format: "ratio" },
      ...LATENCY_COLUMNS,
    ],
    rows: [...results].map(([subject, rates]) => ({
      subject,
      cells: { ...rates.tableCells, toA2aJs: computeMedianRatio(rates.perSecond, a2aJs) },
      targets: [],
      checked: rates.checkedResponseCount,
      faults: rates.responseFaults,
    })),
  };
}
