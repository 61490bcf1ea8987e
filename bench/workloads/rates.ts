import { rotate, type Bench, type Party } from "../bench.ts";
import type { GrpcTarget } from "../load/grpc.ts";
import type { Template } from "../load/request.ts";
import { median } from "../report.ts";

/** A subject, and how it is asked. */
export interface Entry {
  readonly label: string;
  readonly party: Party;
  /** Over HTTP or over gRPC. Absent: the subject runs by itself. */
  readonly template: Template | GrpcTarget | undefined;
  /** What every answer must amount to. */
  readonly text: string;
}

/** One subject in one round. */
interface Trial {
  readonly perSecond: number;
  /** CPU time of the subject's process per answer. */
  readonly cpuMicros: number;
  readonly p50: number;
  readonly p99: number;
  readonly events: number;
  readonly checked: number;
  readonly faults: readonly string[];
}

/** One subject in all rounds. */
export class Rates {
  readonly #trials: Trial[] = [];

  add(trial: Trial): void {
    this.#trials.push(trial);
  }

  get perSecond(): number[] {
    return this.#trials.map((trial) => trial.perSecond);
  }

  get checked(): number {
    return this.#trials.reduce((sum, trial) => sum + trial.checked, 0);
  }

  get faults(): string[] {
    if (this.checked === 0) return ["no answer was complete in time"];
    return this.#trials.flatMap((trial) => trial.faults);
  }

  /** The columns that all rate tables share. */
  get cells(): Record<string, number> {
    const of = (pick: (trial: Trial) => number): number => median(this.#trials.map(pick));
    return {
      perSecond: of((trial) => trial.perSecond),
      p50: of((trial) => trial.p50),
      p99: of((trial) => trial.p99),
      cpu: of((trial) => trial.cpuMicros),
      events: of((trial) => trial.events),
    };
  }
}

/** Measures all entries, one at a time, in rounds; the answer is by label. */
export async function measureRates(
  bench: Bench,
  entries: readonly Entry[],
  connections: number,
): Promise<Map<string, Rates>> {
  const { rounds, leadMs, trialMs, warmUpMs } = bench.settings;
  const all = new Map(entries.map(({ label }) => [label, new Rates()]));
  for (const entry of entries) await measure(bench, entry, { connections, leadMs: 0, ms: warmUpMs });
  for (let round = 0; round < rounds; round++) {
    bench.say(`  round ${round + 1} of ${rounds}`);
    for (const entry of rotate(entries, round)) {
      all.get(entry.label)?.add(await measure(bench, entry, { connections, leadMs, ms: trialMs }));
    }
  }
  return all;
}

interface Load {
  readonly connections: number;
  readonly leadMs: number;
  readonly ms: number;
}

async function measure(bench: Bench, { party, template, text }: Entry, load: Load): Promise<Trial> {
  const resultOf = async (): Promise<Omit<Trial, "cpuMicros"> & { readonly completed: number }> => {
    if (!template) return { ...UNTOLD, ...(await party.remote.call("run", load)) };
    return "job" in template
      ? await bench.load.call("measureGrpcRate", { ...load, target: template, text })
      : await bench.load.call("measureRate", { ...load, template, text });
  };
  const before = await party.remote.call("usage");
  const result = await resultOf();
  const after = await party.remote.call("usage");
  return { ...result, cpuMicros: ((after.cpuMs - before.cpuMs) * 1000) / result.completed };
}

/** What a subject that runs by itself does not tell. */
const UNTOLD = { p50: Number.NaN, p99: Number.NaN, events: Number.NaN };
