import { requireRunningSystem, type BenchmarkContext } from "../benchmark-context.ts";
import type { BenchmarkJob } from "../benchmark-job.ts";
import { createJobRequest, type A2AMethod } from "../load/request-template.ts";
import { computeMedianRatio, type ReportRow, type ReportTable } from "../report.ts";
import { SCRIPTED_MODEL_REPLY_JOB, SCRIPTED_MODEL_REPLY_TEXT } from "../scripted-model-reply.ts";
import { ADK_SYSTEMS } from "../systems-under-test.ts";
import { LATENCY_COLUMNS, measureThroughputRounds, type LoadTarget } from "./throughput-rounds.ts";

const CONCURRENT_TASK_COUNT = 16;
/** The agent returns its script for every job. */
const JOB_IGNORED_BY_SCRIPTED_AGENT: BenchmarkJob = { kind: "turns", count: 1 };
const A2A_METHODS_BY_RESPONSE_MODE: Record<"whole" | "streamed", A2AMethod> = {
  whole: "SendMessage",
  streamed: "SendStreamingMessage",
};

/** Measures one ADK agent with a scripted model behind each server, and without a server. */
export async function measureAdkThroughput(bench: BenchmarkContext): Promise<ReportTable[]> {
  const results = await bench.runWithStartedSystems(["adk-runner", ...ADK_SYSTEMS], (systems) => {
    const direct: LoadTarget = {
      label: "adk-runner",
      system: requireRunningSystem(systems, "adk-runner"),
      request: undefined,
      expectedText: SCRIPTED_MODEL_REPLY_TEXT,
    };
    const served = Object.entries(A2A_METHODS_BY_RESPONSE_MODE).flatMap(([mode, method]) =>
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
    return measureThroughputRounds(bench, [direct, ...served], CONCURRENT_TASK_COUNT);
  });
  const runner = results.get("adk-runner")!.perSecond;
  const rows = [...results].map(([subject, rates]): ReportRow => {
    const [, mode] = subject.split(", ");
    const rival = mode && results.get(`adk-toA2a, ${mode}`)!.perSecond;
    const toRival = rival ? computeMedianRatio(rates.perSecond, rival) : undefined;
    const cells = { ...rates.tableCells, toRunner: computeMedianRatio(rates.perSecond, runner), toRival };
    return { subject, cells, targets: [], checked: rates.checkedResponseCount, faults: rates.responseFaults };
  });
  return [
    {
      workload: "adk",
      title: `ADK agent, scripted model, ${SCRIPTED_MODEL_REPLY_JOB.count} partials, ${CONCURRENT_TASK_COUNT} at once`,
      columns: [
        { key: "perSecond", title: "tasks/s", format: "rate" },
        { key: "toRunner", title: "× runner", format: "ratio" },
        { key: "toRival", title: "× adk-toA2a", format: "ratio" },
        ...LATENCY_COLUMNS,
      ],
      rows,
    },
  ];
}
