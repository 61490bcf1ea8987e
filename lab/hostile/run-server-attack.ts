import { setTimeout } from "node:timers/promises";
import { ChildProcessClient, type ChildProcessMethods } from "../bench/child-process-rpc.ts";
import { DEFAULT_ATTACK_BARS, type AttackReport, type ProbeRequest, type ServerAttack } from "./attack.ts";
import type { AttackOutcome } from "./attack-outcome.ts";
import { ATTACK_CREDENTIALS } from "./attacked-server.ts";
import { readPeakMemoryMiB, resetPeakMemory } from "./peak-memory.ts";
import { computeExcessStall, computeLatencyPercentile, type ProbeSample } from "./probe-statistics.ts";
import type { AttackedServerMethods } from "./processes/attacked-server-process.ts";
import type { AttackerMethods, SerializedTarget } from "./processes/attacker-process.ts";
import type { ProbeMethods } from "./processes/probe-process.ts";

const WARM_UP_MS = 1500;
const CALM_MS = 1000;
const ATTACK_MAX_SECONDS = 15;
/** Time for which the attacker keeps its connections after the attack. */
const AFTERMATH_MS = 500;
/** Latency of the idle control server above which stalls are those of the machine. */
const BUSY_MACHINE_P99_MS = 50;
/** Addresses of the attacker. All of 127.0.0.0/8 belongs to this machine on Linux only. */
const ATTACKER_ADDRESSES =
  process.platform === "linux" ? ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"] : [];

/** A SendMessage to the agent `echo`. */
const DEFAULT_PROBE: ProbeRequest = {
  method: "POST",
  path: "/a2a/echo",
  headers: {
    "content-type": "application/json",
    "a2a-version": "1.0",
    authorization: ATTACK_CREDENTIALS.victim,
  },
  body: `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"MESSAGE-ID","role":"ROLE_USER","parts":[{"text":"hello"}]}}}`,
};

/**
 * Runs an attack against a new server, while a probe client sends small requests to that server and to an idle control
 * server. Each of the four runs in a process of its own.
 */
export async function runServerAttack(
  name: string,
  attack: ServerAttack,
  seed: string,
): Promise<AttackOutcome> {
  const [server, control, attacker, probe] = await Promise.all([
    startHostileProcess<AttackedServerMethods>("attacked-server", name),
    startHostileProcess<AttackedServerMethods>("attacked-server"),
    startHostileProcess<AttackerMethods>("attacker", name),
    startHostileProcess<ProbeMethods>("probe"),
  ]);
  try {
    const addresses = await server.call("getAddresses");
    const target: SerializedTarget = {
      ...addresses,
      origin: `http://${addresses.host}:${addresses.port}`,
      credentials: ATTACK_CREDENTIALS,
      attackerAddresses: ATTACKER_ADDRESSES,
      serverProcessId: server.processId,
      seed: `${seed}/${name}`,
    };
    await attacker.call("prepareAttack", target);
    const { port: controlPort } = await control.call("getAddresses");
    await probe.call("startProbe", {
      request: attack.probe ?? DEFAULT_PROBE,
      targetPort: addresses.port,
      controlPort,
    });
    await setTimeout(WARM_UP_MS);
    await server.call("collectGarbage");
    resetPeakMemory(server.processId);
    await probe.call("takeSamples");
    await setTimeout(CALM_MS);
    const alone = await probe.call("takeSamples");
    const calmPeakMiB = readPeakMemoryMiB(server.processId);

    resetPeakMemory(server.processId);
    await server.call("startStallMeasurement");
    const report = await runWithTimeout(
      attacker.call("runAttack", { target, maxSeconds: ATTACK_MAX_SECONDS }),
      ATTACK_MAX_SECONDS + 10,
    );
    await setTimeout(AFTERMATH_MS);
    const rssGrowthMiB = readPeakMemoryMiB(server.processId) - calmPeakMiB;
    const during = await probe.call("takeSamples");
    const longestTurnMs = server.hasExited ? Infinity : await server.call("endStallMeasurement");

    await attacker.stop();
    await setTimeout(AFTERMATH_MS);
    const after = await probe.call("takeSamples");
    const faults = server.hasExited ? ["the server exited"] : await server.call("takeFaults");
    await probe.call("stopProbe");

    const excessMs = computeExcessStall(during.target, during.control);
    const p99Ms = computeLatencyPercentile(during.target, 0.99);
    const controlP99Ms = computeLatencyPercentile(during.control, 0.99);
    const p99Ratio = p99Ms / controlP99Ms;
    // If even the idle server replies late, other programs use the machine. The CPU time of a turn does not depend on them.
    const isMachineBusy = controlP99Ms > BUSY_MACHINE_P99_MS;
    const stallMs = isMachineBusy ? Math.min(excessMs, longestTurnMs) : excessMs;
    const bars = { ...DEFAULT_ATTACK_BARS, ...attack.bars };
    const figures = {
      rssGrowthMiB,
      stallMs,
      longestTurnMs,
      isMachineBusy: isMachineBusy ? 1 : 0,
      p99Ms,
      controlP99Ms,
      p99Ratio,
      aloneP99Ms: computeLatencyPercentile(alone.target, 0.99),
      probes: during.target.length,
    };
    return {
      name,
      title: attack.title,
      figures: { ...figures, ...report.figures },
      problems: [
        ...(report.problems ?? []),
        ...faults,
        ...describeProbeFailures("before", alone.target),
        ...describeProbeFailures("during", during.target),
        ...describeProbeFailures("during", during.control, "the control server"),
        ...describeProbeFailures("after", after.target),
      ],
      exceededBars: (["rssGrowthMiB", "stallMs", "p99Ratio"] as const)
        .filter((bar) => figures[bar] > bars[bar])
        .map((bar) => ({ bar, value: figures[bar], maximum: bars[bar] })),
    };
  } finally {
    await Promise.all([attacker, probe, server, control].map((child) => child.stop()));
  }
}

/** Starts one of the modules in `processes/`. */
export function startHostileProcess<Methods extends ChildProcessMethods>(
  module: "attacked-server" | "attacker" | "probe" | "victim",
  ...args: string[]
): Promise<ChildProcessClient<Methods>> {
  const url = new URL(`processes/${module}-process.ts`, import.meta.url);
  return ChildProcessClient.start<Methods>([module, ...args].join(" "), url, "any", args, ["--expose-gc"]);
}

/** Resolves with the report of an attack, or with a problem if the attack does not end in time. */
export async function runWithTimeout(
  attack: Promise<AttackReport>,
  maxSeconds: number,
): Promise<AttackReport> {
  const stopTimer = new AbortController();
  const timeout = setTimeout(maxSeconds * 1000, undefined, { signal: stopTimer.signal }).then(
    () => ({ problems: [`the attack did not end within ${maxSeconds} s`] }),
    () => ({}),
  );
  const report = attack.catch((error: unknown) => ({ problems: [`the attack failed: ${String(error)}`] }));
  return await Promise.race([report, timeout]).finally(() => stopTimer.abort());
}

/** Returns one statement about the failed requests of the probe, if there are any. */
function describeProbeFailures(
  phase: string,
  samples: readonly ProbeSample[],
  server = "the attacked server",
): string[] {
  const failed = samples.filter(({ problem }) => problem !== undefined);
  if (samples.length === 0) return [`another caller of ${server} received no response ${phase} the attack`];
  if (failed.length === 0) return [];
  return [
    `${failed.length} of ${samples.length} requests of another caller of ${server} failed ${phase} the attack: ${failed[0]?.problem}`,
  ];
}
