import { requireRunningSystem, type BenchmarkContext, type RunningSystem } from "../benchmark-context.ts";
import { LARGE_CHUNK_SIZE, type BenchmarkJob } from "../benchmark-job.ts";
import { computeMedian } from "../interval.ts";
import { createJobRequest, createListRequest } from "../load/request-template.ts";
import { createMaximumTarget, type ReportRow, type ReportTable } from "../report.ts";

const SYSTEM = "colloquy-sqlite-observed";
const CHUNKS_PER_MB = 1024 ** 2 / LARGE_CHUNK_SIZE;

/** Cost of one artifact. */
interface ArtifactCost {
  readonly ms: number;
  readonly cpuMs: number;
  readonly stallMs: number;
  /** Bytes that the store file grew by, after a checkpoint. */
  readonly storeBytes: number;
}

/** Measures how an artifact of a certain size streams from the agent to the store. No client reads it. */
export async function measureArtifactSizes(bench: BenchmarkContext): Promise<ReportTable[]> {
  const { quick } = bench.settings;
  const rows: ReportRow[] = [];
  for (const megabytes of quick ? [1, 10] : [1, 10, 100]) {
    bench.logProgress(`  ${megabytes} MB`);
    const costs = await bench.runWithStartedSystems([SYSTEM], (systems) =>
      measureArtifacts(bench, requireRunningSystem(systems, SYSTEM), megabytes, quick ? 1 : 3),
    );
    const median = (pick: (cost: ArtifactCost) => number): number => computeMedian(costs.map(pick));
    const stall = median(({ stallMs }) => stallMs);
    const stored = median(({ storeBytes }) => storeBytes) / (megabytes * 1024 ** 2);
    rows.push({
      subject: `${megabytes} MB`,
      cells: {
        ms: median(({ ms }) => ms),
        cpuPerMb: median(({ cpuMs }) => cpuMs) / megabytes,
        stall,
        stored,
      },
      targets: [createMaximumTarget(20, stall, "stall ms"), createMaximumTarget(1.5, stored, "store × JSON")],
      checked: costs.length,
      faults: [],
    });
  }
  return [
    {
      workload: "artifact-size",
      title: "One artifact in chunks of 64 KB, from the agent to the store",
      columns: [
        { key: "ms", title: "ms", format: "ms" },
        { key: "cpuPerMb", title: "cpu ms/MB", format: "ms2" },
        { key: "stall", title: "longest stall ms", format: "ms" },
        { key: "stored", title: "store × JSON", format: "ratio" },
      ],
      rows,
    },
  ];
}

async function measureArtifacts(
  bench: BenchmarkContext,
  { process: client, endpoint }: RunningSystem,
  megabytes: number,
  count: number,
): Promise<ArtifactCost[]> {
  let ended = 0;
  const storeArtifact = async (size: number): Promise<void> => {
    const job = { kind: "large", count: size * CHUNKS_PER_MB } as const;
    await bench.loadGenerator.call("sendOnce", createJobRequest(endpoint, "SendMessage", job, true));
    await client.call("waitForEndedTasks", ++ended);
  };
  for (let warmUp = 0; warmUp < 5; warmUp++) await storeArtifact(1);
  const costs: ArtifactCost[] = [];
  while (costs.length < count) {
    const bytesBefore = await client.call("measureStoreBytes");
    const before = await client.call("getResourceUsage");
    await client.call("startStallMeasurement");
    const startedAt = performance.now();
    await storeArtifact(megabytes);
    const ms = performance.now() - startedAt;
    const stallMs = await client.call("endStallMeasurement");
    const after = await client.call("getResourceUsage");
    const storeBytes = (await client.call("measureStoreBytes")) - bytesBefore;
    costs.push({ ms, cpuMs: after.cpuMs - before.cpuMs, stallMs, storeBytes });
  }
  return costs;
}

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
