import { setTimeout as pause } from "node:timers/promises";
import type { Task } from "../../../src/protocol/index.ts";
import { callAgent, startTask, waitForFinalState } from "../agent-requests.ts";
import type { ChaosContext, ChaosFault } from "../chaos-fault.ts";
import { computePercentile } from "../percentile.ts";
import { readMonotonicMs } from "../scripted-agents.ts";

const TASKS = 40;
/** A script whose agent emits one chunk and then waits, so that it notices a cancel only by its signal. */
const SILENT_SCRIPT = { chunks: 2, intervalMs: 60_000 };
const WAIT_FOR_AGENTS_MS = 10_000;

export const fault: ChaosFault = {
  title: "40 tasks with silent agents run on one node, and are canceled on the other node",
  promise: "The agent's signal aborts within 100 ms. Each task stays CANCELED.",
  maxSeconds: 120,
  bars: {
    agentsNotAborted: 0,
    notCanceled: 0,
    abortP99Ms: 100,
    agentsNotAbortedByPolling: 0,
    notCanceledByPolling: 0,
  },
  isComparison: true,
  async inject(context) {
    await cancelRemotely(context, "", true);
    if (context.hasEventIds) await cancelRemotely(context, "ByPolling", false);
  },
};

async function cancelRemotely(context: ChaosContext, name: string, hints: boolean): Promise<void> {
  const options = { hints, leaseMs: 15_000 };
  const [owner, other] = [await context.startNode(options), await context.startNode(options)];
  const taskIds = await Promise.all(
    Array.from({ length: TASKS }, (_, at) =>
      startTask(owner.getAgentUrl("fail"), `cancel-${name}-${at}`, SILENT_SCRIPT),
    ),
  );
  await pause(1000);
  const sentAt = new Map<string, number>();
  const replyTimesMs: number[] = [];
  for (const taskId of taskIds) {
    const startedAt = readMonotonicMs();
    sentAt.set(taskId, startedAt);
    await callAgent<Task>(other.getAgentUrl("fail"), "CancelTask", { id: taskId }).then(
      () => replyTimesMs.push(readMonotonicMs() - startedAt),
      () => undefined,
    );
  }
  const deadline = readMonotonicMs() + WAIT_FOR_AGENTS_MS;
  while (owner.findAgentReports("aborted").length < TASKS && readMonotonicMs() < deadline) await pause(50);
  const states = await Promise.all(
    taskIds.map((taskId) => waitForFinalState(owner.getAgentUrl("fail"), taskId, 2000)),
  );
  const abortTimesMs = owner
    .findAgentReports("aborted")
    .map(({ taskId, at }) => at - (sentAt.get(taskId) ?? at));
  context.addFigure(`tasks${name}`, TASKS);
  context.addFigure(`replies${name}`, replyTimesMs.length);
  context.addFigure(`agentsNotAborted${name}`, TASKS - abortTimesMs.length);
  context.addFigure(`notCanceled${name}`, states.filter((state) => state !== "TASK_STATE_CANCELED").length);
  context.addFigure(`abortP50Ms${name}`, computePercentile(abortTimesMs, 0.5));
  context.addFigure(`abortP99Ms${name}`, computePercentile(abortTimesMs, 0.99));
  context.addFigure(`replyP99Ms${name}`, computePercentile(replyTimesMs, 0.99));
  await owner.kill();
  await other.kill();
}
