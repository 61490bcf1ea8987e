import { rotate, type BenchmarkContext, type RunningSystem } from "../benchmark-context.ts";
import type { GrpcJobRequest } from "../load/grpc-throughput.ts";
import type { RequestTemplate } from "../load/request-template.ts";
import { computeMedian } from "../report.ts";

/** A subject, and how it is asked. */
export interface LoadTarget {
  readonly label: string;
  readonly system: RunningSystem;
  /** Over HTTP or over gRPC. Absent: the subject runs by itself. */
  readonly request: RequestTemplate | GrpcJobRequest | undefined;
  /** What every answer must amount to. */
  readonly expectedText: string;
}

/** One subject in one round. */
interface RoundResult {
  readonly perSecond: number;
  /** CPU time of the subject's process per answer. */
  readonly cpuMicros: number;
  readonly p50: number;
  readonly p99: number;
  readonly eventsPerResponse: number;
  readonly checked: number;
  readonly faults: readonly string[];
}

/** One subject in all rounds. */
export class ThroughputRounds {
  readonly #rounds: RoundResult[] = [];

  add(trial: RoundResult): void {
    this.#rounds.push(trial);
  }

  get perSecond(): number[] {
    return this.#rounds.map((trial) => trial.perSecond);
  }

  get checked(): number {
    return this.#rounds.reduce((sum, trial) => sum + trial.checked, 0);
  }

  get faults(): string[] {
    if (this.checked === 0) return ["no answer was complete in time"];
    return this.#rounds.flatMap((trial) => trial.faults);
  }

  /** The columns that all rate tables share. */
  get tableCells(): Record<string, number> {
    const of = (pick: (trial: RoundResult) => number): number => computeMedian(this.#rounds.map(pick));
    return {
      perSecond: of((trial) => trial.perSecond),
      p50: of((trial) => trial.p50),
      p99: of((trial) => trial.p99),
      cpu: of((trial) => trial.cpuMicros),
      events: of((trial) => trial.eventsPerResponse),
    };
  }
}

/** Measures all entries, one at a time, in rounds; the answer is by label. */
export async function measureThroughputRounds(
  bench: BenchmarkContext,
  entries: readonly LoadTarget[],
  connections: number,
): Promise<Map<string, ThroughputRounds>> {
  const { rounds, rampUpMs: leadMs, trialMs, warmUpMs } = bench.settings;
  const all = new Map(entries.map(({ label }) => [label, new ThroughputRounds()]));
  for (const entry of entries)
    await measureRound(bench, entry, { connections, rampUpMs: 0, durationMs: warmUpMs });
  for (let round = 0; round < rounds; round++) {
    bench.logProgress(`  round ${round + 1} of ${rounds}`);
    for (const entry of rotate(entries, round)) {
      all
        .get(entry.label)
        ?.add(await measureRound(bench, entry, { connections, rampUpMs: leadMs, durationMs: trialMs }));
    }
  }
  return all;
}

interface LoadOptions {
  readonly connections: number;
  readonly rampUpMs: number;
  readonly durationMs: number;
}

async function measureRound(
  bench: BenchmarkContext,
  { system: party, request: template, expectedText: text }: LoadTarget,
  load: LoadOptions,
): Promise<RoundResult> {
  const resultOf = async (): Promise<Omit<RoundResult, "cpuMicros"> & { readonly completed: number }> => {
    if (!template) return { ...UNAVAILABLE_METRICS, ...(await party.process.call("runDirectly", load)) };
    return "job" in template
      ? await bench.loadGenerator.call("measureGrpcThroughput", {
          ...load,
          request: template,
          expectedText: text,
        })
      : await bench.loadGenerator.call("measureThroughput", { ...load, template, expectedText: text });
  };
  const before = await party.process.call("getResourceUsage");
  const result = await resultOf();
  const after = await party.process.call("getResourceUsage");
  return { ...result, cpuMicros: ((after.cpuMs - before.cpuMs) * 1000) / result.completed };
}

/** What a subject that runs by itself does not tell. */
const UNAVAILABLE_METRICS = { p50: Number.NaN, p99: Number.NaN, eventsPerResponse: Number.NaN };
