import { requireRunningSystem, type BenchmarkContext, type RunningSystem } from "../benchmark-context.ts";
import { WAIT_UNTIL_RELEASED_JOB } from "../benchmark-job.ts";
import { parseHttpResponse, parseTaskOutcome, splitSseFrames } from "../load/responses.ts";
import {
  getBaselineServerUrlPath,
  createJobRequest,
  createSubscribeRequest,
  type RequestTemplate,
} from "../load/request-template.ts";
import type { ReportRow, ReportTable } from "../report.ts";
import { SYSTEM_RECORDED_FOR_BASELINE } from "../systems-under-test.ts";

const SUBSCRIBER_SYSTEMS = ["floor", "colloquy-memory", "colloquy-sqlite", "a2a-js"];

/**
 * Number of subscribers that are opened before the measurement, so that code and first buffers are not
 * counted.
 */
const WARM_UP_SUBSCRIBERS = 50;

/** Measures the memory per subscriber when many subscribers wait for one task. */
export async function measureIdleSubscribers(bench: BenchmarkContext): Promise<ReportTable[]> {
  const { subscriberCount } = bench.settings;
  const resultsBySystem = new Map<string, { kb: number; faults: string[] }>();
  const frames = await recordSubscriptionFramesForBaseline(bench);
  for (const name of SUBSCRIBER_SYSTEMS) {
    bench.logProgress(`  ${name}`);
    resultsBySystem.set(
      name,
      await bench.runWithStartedSystems([name], (systems) =>
        measureMemoryPerSubscriber(bench, requireRunningSystem(systems, name), frames),
      ),
    );
  }
  const floor = resultsBySystem.get("floor")!.kb;
  const a2aJs = resultsBySystem.get("a2a-js")!.kb;
  const rows = SUBSCRIBER_SYSTEMS.map((subject): ReportRow => {
    const { kb, faults } = resultsBySystem.get(subject)!;
    return {
      subject,
      cells: { kb, toFloor: kb / floor, toA2aJs: kb / a2aJs },
      targets: [],
      checked: subscriberCount,
      faults,
    };
  });
  return [
    {
      workload: "readers",
      title: `${subscriberCount.toLocaleString("en-US")} idle subscribers of one task: resident memory per reader`,
      columns: [
        { key: "kb", title: "KB", format: "kb" },
        { key: "toFloor", title: "× floor", format: "ratio" },
        { key: "toA2aJs", title: "× a2a-js", format: "ratio" },
      ],
      rows,
    },
  ];
}

async function measureMemoryPerSubscriber(
  bench: BenchmarkContext,
  system: RunningSystem,
  frames: readonly string[],
): Promise<{ kb: number; faults: string[] }> {
  const { process: client, endpoint, name } = system;
  if (name === "floor") {
    const path = getBaselineServerUrlPath("SubscribeToTask");
    await client.call("setRecordedResponse", {
      path,
      contentType: "text/event-stream",
      frames,
      yieldsBetweenFrames: false,
      initialFrameCount: 1,
    });
  }
  const taskId = name === "floor" ? "any" : await startWaitingTask(bench, system);
  const template: RequestTemplate = createSubscribeRequest(endpoint, taskId);
  await bench.loadGenerator.call("openSubscribers", { template, count: WARM_UP_SUBSCRIBERS });
  const usageBefore = await client.call("measureSettledUsage");
  const count = bench.settings.subscriberCount;
  await bench.loadGenerator.call("openSubscribers", { template, count });
  const usageAfter = await client.call("measureSettledUsage");
  await client.call("releaseWaitingJobs");
  const { completed, subscribers } = await bench.loadGenerator.call("waitForSubscribers");
  const faults =
    completed === subscribers
      ? []
      : [`${subscribers - completed} of ${subscribers} readers did not see the end`];
  return { kb: (usageAfter.rss - usageBefore.rss) / 1024 / count, faults };
}

/** Starts a task that runs until its system releases it, and returns its id. */
async function startWaitingTask(bench: BenchmarkContext, { endpoint, name }: RunningSystem): Promise<string> {
  const answer = await bench.loadGenerator.call(
    "sendOnce",
    createJobRequest(endpoint, "SendMessage", WAIT_UNTIL_RELEASED_JOB, true),
  );
  const { taskId } = parseTaskOutcome(Buffer.from(answer, "latin1"));
  if (!taskId) throw new Error(`${name} started no task`);
  return taskId;
}

/** Records the frames of a subscription: the current task and its end. */
async function recordSubscriptionFramesForBaseline(bench: BenchmarkContext): Promise<string[]> {
  return bench.runWithStartedSystems([SYSTEM_RECORDED_FOR_BASELINE], async (systems) => {
    const recordedSystem = requireRunningSystem(systems, SYSTEM_RECORDED_FOR_BASELINE);
    const template = createSubscribeRequest(
      recordedSystem.endpoint,
      await startWaitingTask(bench, recordedSystem),
    );
    await bench.loadGenerator.call("openSubscribers", { template, count: 1 });
    await recordedSystem.process.call("releaseWaitingJobs");
    const { sampleResponse } = await bench.loadGenerator.call("waitForSubscribers");
    return splitSseFrames(parseHttpResponse(Buffer.from(sampleResponse, "latin1")).body);
  });
}
