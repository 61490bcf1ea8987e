import { rotateList, type BenchmarkContext, type RunningSystem } from "../benchmark-context.ts";
import type { GrpcBenchmarkJobRequest } from "../load/grpc-throughput.ts";
import type { RequestTemplate } from "../load/request-template.ts";
import type { BenchmarkJob } from "../benchmark-job.ts";
import { computeMedian, type ReportColumn } from "../report.ts";

/** Job of the workloads that measure requests. */
export const TEN_CHUNK_JOB: BenchmarkJob = { kind: "chunks", count: 10 };
/** Number of connections of the workloads that measure requests. */
export const CONNECTION_COUNT = 32;

/** Columns that end every throughput table. */
export const LATENCY_COLUMNS: readonly ReportColumn[] = [
  { key: "p50", title: "p50 ms", format: "ms" },
  { key: "p99", title: "p99 ms", format: "ms" },
  { key: "cpu", title: "cpu µs", format: "us" },
  { key: "events", title: "events", format: "count" },
];

/** A system under test and the request that it receives. */
export interface LoadTarget {
  readonly label: string;
  readonly system: RunningSystem;
  /** Request over HTTP or gRPC. */
  readonly request: RequestTemplate | GrpcBenchmarkJobRequest;
  /** Text that every response must contain. */
  readonly expectedText: string;
}

/** Result of one system in one round. */
interface RoundResult {
  readonly perSecond: number;
  /** CPU time of the system's process per response. */
  readonly cpuMicros: number;
  readonly p50: number;
  readonly p99: number;
  readonly eventsPerResponse: number;
  readonly checked: number;
  readonly faults: readonly string[];
}

/** Results of one system in all rounds. */
export class ThroughputRounds {
  readonly #rounds: RoundResult[] = [];

  add(round: RoundResult): void {
    this.#rounds.push(round);
  }

  get perSecond(): number[] {
    return this.#rounds.map((round) => round.perSecond);
  }

  get cpuMicros(): number[] {
    return this.#rounds.map((round) => round.cpuMicros);
  }

  get checkedResponseCount(): number {
    return this.#rounds.reduce((sum, round) => sum + round.checked, 0);
  }

  get responseFaults(): string[] {
    if (this.checkedResponseCount === 0) return ["no response was complete in time"];
    return this.#rounds.flatMap((round) => round.faults);
  }

  /** Returns the cells that all throughput tables share. */
  get tableCells(): Record<string, number> {
    const computeRoundMedian = (pick: (round: RoundResult) => number): number =>
      computeMedian(this.#rounds.map(pick));
    return {
      perSecond: computeRoundMedian((round) => round.perSecond),
      p50: computeRoundMedian((round) => round.p50),
      p99: computeRoundMedian((round) => round.p99),
      cpu: computeRoundMedian((round) => round.cpuMicros),
      events: computeRoundMedian((round) => round.eventsPerResponse),
    };
  }
}

/** Measures all entries one at a time, in rounds, and returns the results by label. */
export async function measureThroughputRounds(
  bench: BenchmarkContext,
  entries: readonly LoadTarget[],
  connections: number,
): Promise<Map<string, ThroughputRounds>> {
  const { rounds, rampUpMs, trialMs, warmUpMs } = bench.settings;
  const resultsByLabel = new Map(entries.map(({ label }) => [label, new ThroughputRounds()]));
  for (const entry of entries)
    await measureRound(bench, entry, { connections, rampUpMs: 0, durationMs: warmUpMs });
  for (let round = 0; round < rounds; round++) {
    bench.logProgress(`  round ${round + 1} of ${rounds}`);
    for (const entry of rotateList(entries, round)) {
      resultsByLabel
        .get(entry.label)
        ?.add(await measureRound(bench, entry, { connections, rampUpMs, durationMs: trialMs }));
    }
  }
  return resultsByLabel;
}

interface LoadOptions {
  readonly connections: number;
  readonly rampUpMs: number;
  readonly durationMs: number;
}

async function measureRound(
  bench: BenchmarkContext,
  { system, request, expectedText }: LoadTarget,
  load: LoadOptions,
): Promise<RoundResult> {
  const before = await system.process.call("getResourceUsage");
  const result = await ("job" in request
    ? bench.loadGenerator.call("measureGrpcThroughput", { ...load, request, expectedText })
    : bench.loadGenerator.call("measureThroughput", {
        ...load,
        template: request,
        expected: { text: expectedText },
      }));
  const after = await system.process.call("getResourceUsage");
  return { ...result, cpuMicros: ((after.cpuMs - before.cpuMs) * 1000) / result.completed };
}
