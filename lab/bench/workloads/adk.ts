import { requireRunningSystem, type BenchmarkContext } from "../benchmark-context.ts";
import type { BenchmarkJob } from "../benchmark-job.ts";
import { createJobRequest, type A2AMethod } from "../load/request-template.ts";
import { computeMedianRatio, type ReportRow, type ReportTable } from "../report.ts";
import { JOB_DEFINING_SCRIPTED_MODEL_REPLY, SCRIPTED_MODEL_REPLY_TEXT } from "../scripted-model-reply.ts";
import { ADK_PERFORMANCE_TARGETS, type AdkRatios } from "../performance-targets.ts";
import { ADK_SYSTEMS, type SystemName } from "../systems-under-test.ts";
import {
  LATENCY_COLUMNS,
  measureThroughputRounds,
  type LoadTarget,
  type ThroughputRounds,
} from "./throughput-rounds.ts";

const CONCURRENT_TASK_COUNT = 16;
/** The agent returns its script for every job. */
const JOB_IGNORED_BY_SCRIPTED_AGENT: BenchmarkJob = { kind: "turns", count: 1 };
const A2A_METHODS_BY_RESPONSE_MODE: Record<"whole" | "streamed", A2AMethod> = {
  whole: "SendMessage",
  streamed: "SendStreamingMessage",
};

/** Measures one ADK agent with a scripted model behind each server. */
export async function measureAdkThroughput(bench: BenchmarkContext): Promise<ReportTable[]> {
  const results = await bench.runWithStartedSystems(ADK_SYSTEMS, (systems) => {
    const targets = Object.entries(A2A_METHODS_BY_RESPONSE_MODE).flatMap(([mode, method]) =>
      ADK_SYSTEMS.map((name): LoadTarget => {
        const system = requireRunningSystem(systems, name);
        return {
          label: `${name}, ${mode}`,
          system,
          request: createJobRequest(system.endpoint, method, JOB_IGNORED_BY_SCRIPTED_AGENT),
          expectedText: SCRIPTED_MODEL_REPLY_TEXT,
        };
      }),
    );
    return measureThroughputRounds(bench, targets, CONCURRENT_TASK_COUNT);
  });
  const rows = [...results].map(([subject, rounds]): ReportRow => {
    const [, mode] = subject.split(", ");
    const requireRounds = (system: SystemName): ThroughputRounds => results.get(`${system}, ${mode}`)!;
    const ratios: AdkRatios = {
      toFloor: computeMedianRatio(rounds.perSecond, requireRounds("adk-floor").perSecond),
      toRival: computeMedianRatio(rounds.perSecond, requireRounds("adk-toA2a").perSecond),
      cpuToAlways: computeMedianRatio(
        rounds.cpuMicros,
        requireRounds("colloquy-adk-memory-always").cpuMicros,
      ),
    };
    return {
      subject,
      cells: { ...rounds.tableCells, ...ratios },
      targets: ADK_PERFORMANCE_TARGETS[subject]?.(ratios) ?? [],
      checked: rounds.checkedResponseCount,
      faults: rounds.responseFaults,
    };
  });
  return [
    {
      workload: "adk",
      title: `ADK agent, scripted model, ${JOB_DEFINING_SCRIPTED_MODEL_REPLY.count} partials, ${CONCURRENT_TASK_COUNT} at once`,
      columns: [
        { key: "perSecond", title: "tasks/s", format: "rate" },
        { key: "toFloor", title: "× adk-floor", format: "ratio" },
        { key: "toRival", title: "× adk-toA2a", format: "ratio" },
        { key: "cpuToAlways", title: "cpu × always", format: "ratio" },
        ...LATENCY_COLUMNS,
      ],
      rows,
    },
  ];
}
