import { rotate, type Bench, type Party } from "../bench.ts";
import type { Template } from "../load/request.ts";
import { median } from "../report.ts";

/** What one subject did, round by round. */
export interface Rates {
  readonly perSecond: number[];
  readonly cpuMicros: number[];
  readonly p50: number[];
  readonly p99: number[];
  readonly events: number[];
  checked: number;
  readonly faults: string[];
}

/** One measurement of `rates`: a subject, and how it is asked. */
export interface Entry {
  readonly label: string;
  readonly party: Party;
  /** Absent: the subject runs by itself. */
  readonly template: Template | undefined;
  readonly text: string;
}

/** Measures all entries, one at a time, in rounds. */
export async function measureRates(
  bench: Bench,
  entries: readonly Entry[],
  connections: number,
): Promise<Map<string, Rates>> {
  const { rounds, trialMs, warmUpMs } = bench.settings;
  const all = new Map<string, Rates>();
  for (const entry of entries) {
    all.set(entry.label, {
      perSecond: [],
      cpuMicros: [],
      p50: [],
      p99: [],
      events: [],
      checked: 0,
      faults: [],
    });
    await trial(bench, entry, connections, warmUpMs);
  }
  for (let round = 0; round < rounds; round++) {
    bench.say(`  round ${round + 1} of ${rounds}`);
    for (const entry of rotate(entries, round)) {
      const rates = all.get(entry.label)!;
      const { perSecond, cpuMicros, p50, p99, events, checked, faults } = await trial(
        bench,
        entry,
        connections,
        trialMs,
      );
      rates.perSecond.push(perSecond);
      rates.cpuMicros.push(cpuMicros);
      rates.p50.push(p50);
      rates.p99.push(p99);
      rates.events.push(events);
      rates.checked += checked;
      rates.faults.push(...faults);
    }
  }
  for (const rates of all.values())
    if (rates.checked === 0) rates.faults.push("no answer was complete in time");
  return all;
}

interface Trial {
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly p50: number;
  readonly p99: number;
  readonly events: number;
  readonly checked: number;
  readonly faults: readonly string[];
}

async function trial(bench: Bench, entry: Entry, connections: number, ms: number): Promise<Trial> {
  const { remote } = entry.party;
  const before = await remote.call("usage");
  if (!entry.template) {
    const { completed, faults } = await remote.call("run", { concurrency: connections, ms });
    const { cpuMs } = await remote.call("usage");
    const cpuMicros = ((cpuMs - before.cpuMs) * 1000) / completed;
    return {
      perSecond: (completed / ms) * 1000,
      cpuMicros,
      p50: Number.NaN,
      p99: Number.NaN,
      events: Number.NaN,
      checked: completed,
      faults,
    };
  }
  const order = { template: entry.template, connections, ms, text: entry.text };
  const result = await bench.load.call("measureRate", order);
  const { cpuMs } = await remote.call("usage");
  return { ...result, cpuMicros: ((cpuMs - before.cpuMs) * 1000) / result.completed };
}

/** The columns that all rate tables share. */
export function commonCells(rates: Rates): Record<string, number> {
  return {
    perSecond: median(rates.perSecond),
    p50: median(rates.p50),
    p99: median(rates.p99),
    cpu: median(rates.cpuMicros),
    events: median(rates.events),
  };
}
