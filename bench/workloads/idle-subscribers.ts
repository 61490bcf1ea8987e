import { requireRunningSystem, type BenchmarkContext, type RunningSystem } from "../benchmark-context.ts";
import type { BenchmarkJob } from "../job.ts";
import { parseTaskOutcome } from "../load/task-outcome.ts";
import {
  getBaselinePath,
  createJobRequest,
  createSubscribeRequest,
  type RequestTemplate,
} from "../load/request-template.ts";
import { splitSseFrames, parseHttpResponse } from "../load/http-response.ts";
import type { ReportRow, ReportTable } from "../report.ts";
import { RECORDED_SYSTEM, SUBSCRIBER_SYSTEMS, type SystemName } from "../systems-under-test.ts";

const WAIT_JOB: BenchmarkJob = { kind: "wait", count: 0 };
/** Opened and closed before the measurement, so that code and first buffers are not counted. */
const WARM_UP_SUBSCRIBERS = 50;

/** Many readers that wait for one task: what does a reader cost who gets nothing? */
export async function measureIdleSubscribers(bench: BenchmarkContext): Promise<ReportTable[]> {
  const { subscriberCount: readers } = bench.settings;
  const used = new Map<SystemName, { kb: number; faults: string[] }>();
  const frames = await recordSubscriptionFrames(bench);
  for (const name of SUBSCRIBER_SYSTEMS) {
    bench.logProgress(`  ${name}`);
    used.set(
      name,
      await bench.withSystems([name], (parties) =>
        measureMemoryPerSubscriber(bench, requireRunningSystem(parties, name), frames),
      ),
    );
  }
  const floor = used.get("floor")!.kb;
  const a2aJs = used.get("a2a-js")!.kb;
  const rows = SUBSCRIBER_SYSTEMS.map((subject): ReportRow => {
    const { kb, faults } = used.get(subject)!;
    return {
      subject,
      cells: { kb, toFloor: kb / floor, toA2aJs: kb / a2aJs },
      targets: [],
      checked: readers,
      faults,
    };
  });
  return [
    {
      workload: "readers",
      title: `${readers.toLocaleString("en-US")} idle subscribers of one task: resident memory per reader`,
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
  party: RunningSystem,
  frames: readonly string[],
): Promise<{ kb: number; faults: string[] }> {
  const { process: remote, endpoint, name } = party;
  if (name === "floor") {
    const path = getBaselinePath("SubscribeToTask");
    await remote.call("setRecordedResponse", {
      path,
      contentType: "text/event-stream",
      frames,
      yieldsBetweenFrames: false,
      initialFrameCount: 1,
    });
  }
  const taskId = name === "floor" ? "any" : await startWaitingTask(bench, party);
  const template: RequestTemplate = createSubscribeRequest(endpoint, taskId);
  await bench.loadGenerator.call("openSubscribers", { template, count: WARM_UP_SUBSCRIBERS });
  const before = await remote.call("measureSettledUsage");
  const count = bench.settings.subscriberCount;
  await bench.loadGenerator.call("openSubscribers", { template, count });
  const after = await remote.call("measureSettledUsage");
  await remote.call("releaseWaitingJobs");
  const { completed, subscribers: readers } = await bench.loadGenerator.call("waitForSubscribers");
  const faults =
    completed === readers ? [] : [`${readers - completed} of ${readers} readers did not see the end`];
  return { kb: (after.rss - before.rss) / 1024 / count, faults };
}

/** A task that works until its subject is released. */
async function startWaitingTask(bench: BenchmarkContext, { endpoint, name }: RunningSystem): Promise<string> {
  const answer = await bench.loadGenerator.call(
    "sendOnce",
    createJobRequest(endpoint, "SendMessage", WAIT_JOB, true),
  );
  const { taskId } = parseTaskOutcome(Buffer.from(answer, "latin1"));
  if (!taskId) throw new Error(`${name} began no task`);
  return taskId;
}

/** A subscription as the model writes it: the task as it stands, and how it ends. */
async function recordSubscriptionFrames(bench: BenchmarkContext): Promise<string[]> {
  return bench.withSystems([RECORDED_SYSTEM], async (parties) => {
    const model = requireRunningSystem(parties, RECORDED_SYSTEM);
    const template = createSubscribeRequest(model.endpoint, await startWaitingTask(bench, model));
    await bench.loadGenerator.call("openSubscribers", { template, count: 1 });
    await model.process.call("releaseWaitingJobs");
    const { sampleResponse: sample } = await bench.loadGenerator.call("waitForSubscribers");
    return splitSseFrames(parseHttpResponse(Buffer.from(sample, "latin1")).body);
  });
}
