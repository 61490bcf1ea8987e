import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { readSseStream } from "../../../test/support/raw-stream.ts";
import {
  createSubscribeRequest,
  decodeStreamData,
  isFinalState,
  readEventChunks,
  readEventState,
  startTask,
} from "../agent-requests.ts";
import type { ChaosContext, ChaosFault } from "../chaos-fault.ts";
import { computePercentile } from "../percentile.ts";
import type { RemoteLag } from "../remote-lag-floor.ts";
import { readMonotonicMs, type AgentScript } from "../scripted-agents.ts";
import type { ChaosNode } from "../systems/chaos-system.ts";

/** Load of one measurement. All tasks together emit `tasks * 1000 / intervalMs` events per second. */
interface SubscribeLoad {
  readonly name: string;
  readonly tasks: number;
  readonly script: AgentScript;
  readonly hints: boolean;
}

/** Time in milliseconds in which all tasks start. */
const START_MS = 1000;
/**
 * Number of chunks of each task before the measured ones, as in the floor. Meanwhile, all tasks start, and the processes
 * compile their code.
 */
const WARM_UP_CHUNKS = 40;
const FAST_SCRIPT: AgentScript = { chunks: 100, intervalMs: 50 };
const SLOW_LOAD: SubscribeLoad = {
  name: "At50PerSecond",
  tasks: 25,
  script: { chunks: 20, intervalMs: 500 },
  hints: true,
};
const FAST_LOAD: SubscribeLoad = { name: "At2000PerSecond", tasks: 100, script: FAST_SCRIPT, hints: true };
/** Loads at which a machine that is too slow for 2,000 events per second can show the lag of Colloquy. */
const MIDDLE_LOADS: readonly SubscribeLoad[] = [
  { ...FAST_LOAD, name: "At1000PerSecond", script: { chunks: 50, intervalMs: 100 } },
  { ...FAST_LOAD, name: "At500PerSecond", script: { chunks: 25, intervalMs: 200 } },
];
const POLLING_LOAD: SubscribeLoad = { name: "ByPolling", tasks: 100, script: FAST_SCRIPT, hints: false };

export const fault: ChaosFault = {
  title: "tasks run on one node, and clients subscribe to them on the other node",
  promise: "Each task arrives whole and in order. The lag is the time from the agent to the client.",
  maxSeconds: 400,
  bars: {
    incompleteAt50PerSecond: 0,
    incompleteAt2000PerSecond: 0,
    lagP50ToFloorAt2000PerSecond: 2,
    lagP99ToFloorAt2000PerSecond: 2,
    incompleteByPolling: 0,
    lagP50MsByPolling: 60,
    lagP99MsByPolling: 120,
  },
  isComparison: true,
  async inject(context) {
    await measureLoad(context, SLOW_LOAD);
    const fastLag = await measureLoad(context, FAST_LOAD);
    if (!context.hasEventIds) return;
    await addRatiosToFloor(context, FAST_LOAD, fastLag);
    for (const load of context.isFullRun ? MIDDLE_LOADS : [])
      await addRatiosToFloor(context, load, await measureLoad(context, load));
    await measureLoad(context, POLLING_LOAD);
  },
};

/** Measures the same load without Colloquy, because the smallest lag depends on the machine. */
async function addRatiosToFloor(
  { addFigure }: ChaosContext,
  { name, script }: SubscribeLoad,
  lag: RemoteLag,
): Promise<void> {
  const child = fork(new URL("../remote-lag-floor.ts", import.meta.url), [
    "measure",
    String(script.intervalMs),
  ]);
  const exit = once(child, "exit");
  const floor = await Promise.race([once(child, "message").then(([message]) => message as RemoteLag), exit]);
  if (Array.isArray(floor)) throw new Error("remote-lag-floor.ts has ended without figures");
  await exit;
  addFigure(`floorP50Ms${name}`, floor.p50Ms);
  addFigure(`floorP99Ms${name}`, floor.p99Ms);
  addFigure(`lagP50ToFloor${name}`, lag.p50Ms / floor.p50Ms);
  addFigure(`lagP99ToFloor${name}`, lag.p99Ms / floor.p99Ms);
}

async function measureLoad(context: ChaosContext, load: SubscribeLoad): Promise<RemoteLag> {
  const { startNode, addFigure } = context;
  const { name, tasks, hints } = load;
  const options = { hints, leaseMs: 15_000 };
  const [owner, other] = [await startNode(options), await startNode(options)];
  const { lagsMs, incomplete, eventsPerSecond } = await runLoad([owner, other], load);
  addFigure(`tasks${name}`, tasks);
  addFigure(`incomplete${name}`, incomplete);
  addFigure(`eventsPerSecond${name}`, eventsPerSecond);
  const lag = { p50Ms: computePercentile(lagsMs, 0.5), p99Ms: computePercentile(lagsMs, 0.99) };
  addFigure(`lagP50Ms${name}`, lag.p50Ms);
  addFigure(`lagP99Ms${name}`, lag.p99Ms);
  for (const node of [owner, other]) {
    node.child.stdin?.end();
    if (node.isRunning) await once(node.child, "exit");
  }
  return lag;
}

/** Starts the tasks on the first node, and reads them from the second node. */
async function runLoad(
  [owner, other]: readonly [ChaosNode, ChaosNode],
  { name, tasks, script }: SubscribeLoad,
): Promise<{ readonly lagsMs: number[]; readonly incomplete: number; readonly eventsPerSecond: number }> {
  const signal = AbortSignal.timeout(90_000);
  const lagsMs: number[] = [];
  // The last measured chunks of a task must not wait for the ends of other tasks, which the floor does not have.
  const chunks = WARM_UP_CHUNKS + script.chunks + Math.ceil(START_MS / script.intervalMs);
  const startedAt = readMonotonicMs();
  const complete = await Promise.all(
    Array.from({ length: tasks }, async (_, number) => {
      // Tasks start one after another, so that their chunks are spread over time.
      await pause((number * START_MS) / tasks);
      const taskId = await startTask(owner.getAgentUrl("fail"), `remote-${name}-${number}`, {
        ...script,
        chunks,
      });
      const read = await readChunks(other.getAgentUrl("fail"), taskId, signal);
      for (const { number: chunk, lagMs } of read)
        if (chunk >= WARM_UP_CHUNKS && chunk < WARM_UP_CHUNKS + script.chunks) lagsMs.push(lagMs);
      return read.length === chunks && read.every(({ number: chunk }, at) => chunk === at);
    }),
  );
  const incomplete = complete.filter((isComplete) => !isComplete).length;
  const seconds = (readMonotonicMs() - startedAt - START_MS) / 1000;
  return { lagsMs, incomplete, eventsPerSecond: (tasks * chunks) / seconds };
}

/** Subscribes to a task until its end, and returns the chunks in the order of their arrival. */
async function readChunks(
  agentUrl: string,
  taskId: string,
  signal: AbortSignal,
): Promise<{ readonly number: number; readonly lagMs: number }[]> {
  const chunks: { readonly number: number; readonly lagMs: number }[] = [];
  try {
    for await (const { data } of readSseStream({ ...createSubscribeRequest(agentUrl, taskId), signal })) {
      const now = readMonotonicMs();
      const event = decodeStreamData(data);
      for (const { number, emittedAt } of readEventChunks(event))
        chunks.push({ number, lagMs: now - emittedAt });
      if (isFinalState(readEventState(event))) break;
    }
  } catch {
    // A broken stream is incomplete.
  }
  return chunks;
}
