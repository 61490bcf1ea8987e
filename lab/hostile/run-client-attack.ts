import { monitorEventLoopDelay } from "node:perf_hooks";
import { DEFAULT_ATTACK_BARS, type BoundaryAttack, type ClientAttack } from "./attack.ts";
import type { AttackOutcome } from "./attack-outcome.ts";
import { readPeakMemoryMiB, resetPeakMemory } from "./peak-memory.ts";
import type { AttackerMethods } from "./processes/attacker-process.ts";
import type { VictimMethods } from "./processes/victim-process.ts";
import { runWithTimeout, startHostileProcess } from "./run-server-attack.ts";

const BOUNDARY_MAX_SECONDS = 60;

/**
 * Runs our client in one process against a hostile server in another process. The event loop of this process measures
 * the noise of the machine at the same time.
 */
export async function runClientAttack(name: string, attack: ClientAttack): Promise<AttackOutcome> {
  const [attacker, victim] = await Promise.all([
    startHostileProcess<AttackerMethods>("attacker", name),
    startHostileProcess<VictimMethods>("victim", name),
  ]);
  try {
    const url = await attacker.call("startHostileServer");
    await victim.call("collectGarbage");
    resetPeakMemory(victim.processId);
    const calmPeakMiB = readPeakMemoryMiB(victim.processId);
    const noise = monitorEventLoopDelay({ resolution: 5 });
    noise.enable();
    const startedAt = performance.now();
    const result: { stallMs: number; faults: readonly string[] } = { stallMs: 0, faults: [] };
    const call = victim.call("runVictim", url).then(({ report, ...measured }) => {
      Object.assign(result, measured);
      return report;
    });
    const report = await runWithTimeout(call, attack.maxSeconds ?? 15);
    const seconds = (performance.now() - startedAt) / 1000;
    noise.disable();
    const rssGrowthMiB = readPeakMemoryMiB(victim.processId) - calmPeakMiB;
    const stallMs = Math.max(0, result.stallMs - noise.max / 1e6);
    const bars = { ...DEFAULT_ATTACK_BARS, ...attack.bars };
    const measured = { rssGrowthMiB, stallMs };
    return {
      name,
      title: attack.title,
      figures: { ...measured, seconds, ...report.figures },
      problems: [...(report.problems ?? []), ...result.faults],
      exceededBars: (["rssGrowthMiB", "stallMs"] as const)
        .filter((bar) => measured[bar] > bars[bar])
        .map((bar) => ({ bar, value: measured[bar], maximum: bars[bar] })),
    };
  } finally {
    await Promise.all([attacker.stop(), victim.stop()]);
  }
}

/** Runs an attack whose success is an event. */
export async function runBoundaryAttack(name: string, { title }: BoundaryAttack): Promise<AttackOutcome> {
  const attacker = await startHostileProcess<AttackerMethods>("attacker", name);
  try {
    const report = await runWithTimeout(attacker.call("runBoundaryAttack"), BOUNDARY_MAX_SECONDS);
    return { name, title, figures: report.figures ?? {}, problems: report.problems ?? [], exceededBars: [] };
  } finally {
    await attacker.stop();
  }
}
