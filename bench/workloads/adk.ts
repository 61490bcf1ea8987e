import { requireRunningSystem, type BenchmarkContext } from "../benchmark-context.ts";
import type { BenchmarkJob } from "../job.ts";
import { createJobRequest, type A2AMethod } from "../load/request-template.ts";
import { computeMedianRatio, type ReportRow, type ReportTable } from "../report.ts";
import { SCRIPTED_JOB, SCRIPTED_TEXT } from "../scripted-job.ts";
import { ADK_SYSTEMS } from "../systems-under-test.ts";
import { LATENCY_COLUMNS, measureThroughputRounds, type LoadTarget } from "./throughput-rounds.ts";

const CONCURRENCY = 16;
/** The agent returns its script for every job. */
const PLACEHOLDER_JOB: BenchmarkJob = { kind: "turns", count: 1 };
const METHODS_BY_MODE: Record<"whole" | "streamed", A2AMethod> = {
  whole: "SendMessage",
  streamed: "SendStreamingMessage",
};

/** Measures one ADK agent with a scripted model behind each server, and without a server. */
export async function measureAdk(bench: BenchmarkContext): Promise<ReportTable[]> {
  const results = await bench.withSystems(["adk-runner", ...ADK_SYSTEMS], (systems) => {
    const direct: LoadTarget = {
      label: "adk-runner",
      system: requireRunningSystem(systems, "adk-runner"),
      request: undefined,
      expectedText: SCRIPTED_TEXT,
    };
    const served = Object.entries(METHODS_BY_MODE).flatMap(([mode, method]) =>
      ADK_SYSTEMS.map((name): LoadTarget => {
        const system = requireRunningSystem(systems, name);
        return {
          label: `${name}, ${mode}`,
          system,
          request: createJobRequest(system.endpoint, method, PLACEHOLDER_JOB),
          expectedText: SCRIPTED_TEXT,
        };
      }),
    );
    return measureThroughputRounds(bench, [direct, ...served], CONCURRENCY);
  });
  const runner = results.get("adk-runner")!.perSecond;
  const rows = [...results].map(([subject, rates]): ReportRow => {
    const [, mode] = subject.split(", ");
    const rival = mode && results.get(`adk-toA2a, ${mode}`)!.perSecond;
    const toRival = rival ? computeMedianRatio(rates.perSecond, rival) : undefined;
    const cells = { ...rates.tableCells, toRunner: computeMedianRatio(rates.perSecond, runner), toRival };
    return { subject, cells, targets: [], checked: rates.checked, faults: rates.faults };
  });
  return [
    {
      workload: "adk",
      title: `ADK agent, scripted model, ${SCRIPTED_JOB.count} partials, ${CONCURRENCY} at once`,
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
