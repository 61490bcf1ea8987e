/** Runs our client against the hostile server of the attack `argv[2]`. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { serveParentProcessCalls } from "../../bench/child-process-rpc.ts";
import type { AttackReport } from "../attack.ts";
import { loadAttack } from "./load-attack.ts";
import { ProcessFaultRecorder } from "./process-faults.ts";

export interface VictimResult {
  readonly report: AttackReport;
  /** Longest stall of the event loop of the client. */
  readonly stallMs: number;
  readonly faults: readonly string[];
}

export type VictimMethods = {
  runVictim(url: string): Promise<VictimResult>;
  collectGarbage(): void;
};

const [, , attackName = ""] = process.argv;
const faults = new ProcessFaultRecorder();
const { runVictim } = await loadAttack(attackName, "client");

serveParentProcessCalls({
  async runVictim(url) {
    const histogram = monitorEventLoopDelay({ resolution: 5 });
    histogram.enable();
    const report = await runVictim(url);
    // The histogram notices a stall at the next turn of the event loop.
    await new Promise((resolve) => setTimeout(resolve, 20));
    histogram.disable();
    return { report, stallMs: histogram.max / 1e6, faults: faults.take() };
  },
  collectGarbage: () => globalThis.gc?.(),
} satisfies VictimMethods);
