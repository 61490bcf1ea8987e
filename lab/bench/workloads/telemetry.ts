import { createServer } from "node:http";
import { listenOnFreePort } from "../servers/listen-on-free-port.ts";
import { requireRunningSystem, type BenchmarkContext } from "../benchmark-context.ts";
import { createJobRequest } from "../load/request-template.ts";
import {
  computeMedian,
  computeMedianRatio,
  createMaximumTarget,
  type ReportRow,
  type ReportTable,
} from "../report.ts";
import { SCRIPTED_MODEL_REPLY_TEXT } from "../scripted-model-reply.ts";
import { COLLECTOR_URL_VARIABLE, TELEMETRY_SYSTEMS, type SystemName } from "../systems-under-test.ts";
import { LATENCY_COLUMNS, measureThroughputRounds, type LoadTarget } from "./throughput-rounds.ts";

const CONCURRENT_TASK_COUNT = 16;
/** Requirement on the CPU time that Colloquy adds to the traces of ADK and OpenTelemetry at 10 %. */
const MAX_OWN_CPU_RATIO = 1.02;

/** The untraced counterpart of each system, and ADK's own runner with the same traces. */
const COMPARED_SYSTEMS: Partial<
  Record<SystemName, { readonly untraced: SystemName; readonly bareRunner?: SystemName }>
> = {
  "adk-floor": { untraced: "adk-floor" },
  "adk-floor-sampled-10": { untraced: "adk-floor" },
  "adk-floor-sampled-100": { untraced: "adk-floor" },
  "colloquy-adk-untraced": { untraced: "colloquy-adk-untraced" },
  "colloquy-adk-memory": { untraced: "colloquy-adk-untraced", bareRunner: "adk-floor" },
  "colloquy-adk-sampled-10": { untraced: "colloquy-adk-untraced", bareRunner: "adk-floor-sampled-10" },
  "colloquy-adk-sampled-100": { untraced: "colloquy-adk-untraced", bareRunner: "adk-floor-sampled-100" },
};

/**
 * Returns the ratio of the CPU time with and without the part of the traces that is not ADK's: the time that traces add
 * behind Colloquy, less the time that they add to ADK's own runner.
 */
function computeOwnCpuRatio(
  getCpuMicros: (name: SystemName) => readonly number[],
  traced: readonly number[],
  bareRunner: SystemName,
): number {
  const untraced = getCpuMicros("colloquy-adk-untraced");
  const addedToRunner = computeMedian(getCpuMicros(bareRunner)) - computeMedian(getCpuMicros("adk-floor"));
  const added = computeMedian(traced) - computeMedian(untraced);
  return 1 + (added - addedToRunner) / computeMedian(untraced);
}

/**
 * Measures the CPU time that traces add to an ADK agent, behind Colloquy and in ADK's own runner. The collector runs in the benchmark process, and discards what
 * it receives.
 */
export async function measureTelemetry(bench: BenchmarkContext): Promise<ReportTable[]> {
  const collector = createServer((request, response) => {
    request
      .resume()
      .once("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  });
  process.env[COLLECTOR_URL_VARIABLE] = await listenOnFreePort(collector);
  try {
    const results = await bench.runWithStartedSystems(TELEMETRY_SYSTEMS, (systems) =>
      measureThroughputRounds(
        bench,
        TELEMETRY_SYSTEMS.map((name): LoadTarget => {
          const system = requireRunningSystem(systems, name);
          const request = createJobRequest(system.endpoint, "SendStreamingMessage", {
            kind: "turns",
            count: 1,
          });
          return { label: name, system, request, expectedText: SCRIPTED_MODEL_REPLY_TEXT };
        }),
        CONCURRENT_TASK_COUNT,
      ),
    );
    const getCpuMicros = (name: SystemName): readonly number[] => results.get(name)?.cpuMicros ?? [];
    const rows = [...results].map(([subject, rounds]): ReportRow => {
      const { untraced, bareRunner } = COMPARED_SYSTEMS[subject as SystemName] ?? {};
      const ownCpu = bareRunner && computeOwnCpuRatio(getCpuMicros, rounds.cpuMicros, bareRunner);
      return {
        subject,
        cells: {
          ...rounds.tableCells,
          ...(untraced && { cpuToUntraced: computeMedianRatio(rounds.cpuMicros, getCpuMicros(untraced)) }),
          ...(ownCpu === undefined ? {} : { ownCpu }),
        },
        targets:
          subject === "colloquy-adk-sampled-10" && ownCpu !== undefined
            ? [createMaximumTarget(MAX_OWN_CPU_RATIO, ownCpu, "own cpu")]
            : [],
        checked: rounds.checkedResponseCount,
        faults: rounds.responseFaults,
      };
    });
    const title = `ADK agent with traces, streamed, ${CONCURRENT_TASK_COUNT} at once`;
    const columns = [
      { key: "perSecond", title: "tasks/s", format: "rate" },
      { key: "cpuToUntraced", title: "cpu × untraced", format: "ratio" },
      { key: "ownCpu", title: "own cpu", format: "ratio" },
      ...LATENCY_COLUMNS,
    ] as const;
    return [{ workload: "telemetry", title, columns, rows }];
  } finally {
    collector.close();
  }
}
