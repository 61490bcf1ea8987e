import { requireRunningSystem, type BenchmarkContext } from "../benchmark-context.ts";
import { buildExpectedText, type BenchmarkJob } from "../benchmark-job.ts";
import { createJobRequest } from "../load/request-template.ts";
import { computeMedianRatio, type ReportTable } from "../report.ts";
import { RECORDED_SYSTEMS } from "../systems-under-test.ts";
import { LATENCY_COLUMNS, measureThroughputRounds, type LoadTarget } from "./throughput-rounds.ts";

const CONCURRENT_TASK_COUNT = 16;
const JOB: BenchmarkJob = { kind: "turns", count: 20 };

/** Measures the CPU time that the traffic record of a server adds to a streamed task. */
export async function measureRecording(bench: BenchmarkContext): Promise<ReportTable[]> {
  const results = await bench.runWithStartedSystems(RECORDED_SYSTEMS, (systems) =>
    measureThroughputRounds(
      bench,
      RECORDED_SYSTEMS.map((name): LoadTarget => {
        const system = requireRunningSystem(systems, name);
        const request = createJobRequest(system.endpoint, "SendStreamingMessage", JOB);
        return { label: name, system, request, expectedText: buildExpectedText(JOB.count) };
      }),
      CONCURRENT_TASK_COUNT,
    ),
  );
  const unrecorded = results.get("colloquy-memory");
  const rows = [...results].map(([subject, rounds]) => ({
    subject,
    cells: {
      ...rounds.tableCells,
      cpuToUnrecorded: computeMedianRatio(rounds.cpuMicros, unrecorded?.cpuMicros ?? []),
    },
    targets: [],
    checked: rounds.checkedResponseCount,
    faults: rounds.responseFaults,
  }));
  const title = `Traffic record, ${JOB.count} chunks, streamed, ${CONCURRENT_TASK_COUNT} at once`;
  const columns = [
    { key: "perSecond", title: "tasks/s", format: "rate" },
    { key: "cpuToUnrecorded", title: "cpu × unrecorded", format: "ratio" },
    ...LATENCY_COLUMNS,
  ] as const;
  return [{ workload: "record", title, columns, rows }];
}
