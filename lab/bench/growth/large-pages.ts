import { requireRunningSystem, type BenchmarkContext, type RunningSystem } from "../benchmark-context.ts";
import type { BenchmarkJob } from "../benchmark-job.ts";
import { createJobRequest, createListRequest } from "../load/request-template.ts";
import { createMaximumTarget, type ReportRow, type ReportTable } from "../report.ts";
import type { SystemName } from "../systems-under-test.ts";

const SYSTEM: SystemName = "colloquy-sqlite-observed";
const TASK_COUNT = 60;
/** Job with an artifact of 9.5 MB. */
const LARGE_JOB: BenchmarkJob = { kind: "large", count: 152 };

/** Measures `ListTasks` for pages of tasks with large artifacts. */
export async function measureLargePages(bench: BenchmarkContext): Promise<ReportTable[]> {
  const taskCount = bench.settings.quick ? TASK_COUNT / 10 : TASK_COUNT;
  const rows = await bench.runWithStartedSystems([SYSTEM], async (systems) => {
    const system = requireRunningSystem(systems, SYSTEM);
    for (let task = 1; task <= taskCount; task++) {
      const request = createJobRequest(system.endpoint, "SendMessage", LARGE_JOB, true);
      await bench.loadGenerator.call("sendOnce", request);
      await system.process.call("waitForEndedTasks", task);
    }
    return [
      await measurePage(bench, system, "without artifacts", { pageSize: TASK_COUNT }),
      await measurePage(bench, system, "with artifacts", { pageSize: TASK_COUNT, includeArtifacts: true }),
    ];
  });
  return [
    {
      workload: "large-pages",
      title: `ListTasks, ${taskCount} tasks with an artifact of 9.5 MB`,
      columns: [
        { key: "ms", title: "ms", format: "ms" },
        { key: "megabytes", title: "MB", format: "ms2" },
        { key: "stall", title: "longest stall ms", format: "ms" },
      ],
      rows,
    },
  ];
}

async function measurePage(
  bench: BenchmarkContext,
  { process: client, endpoint }: RunningSystem,
  subject: string,
  params: object,
): Promise<ReportRow> {
  await client.call("startStallMeasurement");
  const response = await bench.loadGenerator.call(
    "measureLargeResponse",
    createListRequest(endpoint, params),
  );
  const stall = await client.call("endStallMeasurement");
  const hasFailed = response.status !== 200 || response.start.includes('"error":{');
  return {
    subject,
    cells: { ms: response.durationMs, megabytes: response.byteCount / 1024 ** 2, stall },
    targets: [createMaximumTarget(50, stall, "stall ms")],
    checked: 1,
    faults: hasFailed ? [response.start.slice(-300)] : [],
  };
}
