import { setTimeout as pause } from "node:timers/promises";
import { runTestSql } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { readSseStream } from "../../../test/support/raw-stream.ts";
import {
  createSubscribeRequest,
  decodeStreamData,
  isFinalState,
  readEventChunks,
  readEventState,
  startTask,
  waitForFinalState,
} from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";

const READERS = 10;
const CHUNKS = 8000;
/** Time in milliseconds in which all replays begin, also on a busy machine. */
const KEEP_TASKS_MS = 10_000;
const WAIT_MS = 30_000;

export const fault: ChaosFault = {
  // A node does not delete a task that its own clients read.
  title:
    "the retention deletes an ended task on one node while clients replay it on the other node, and pause",
  promise: "No client receives a gap. A client receives the end of the task, or its stream ends without it.",
  maxSeconds: 120,
  bars: { gaps: 0, endedWithMissingChunks: 0 },
  async inject({ database, startNode, addFigure, addProblem }) {
    const options = { leaseMs: 15_000, taskRetentionMs: KEEP_TASKS_MS };
    const [owner, other] = [await startNode(options), await startNode(options)];
    const script = { chunks: CHUNKS, intervalMs: 0, padding: 2000 };
    const taskId = await startTask(owner.getAgentUrl("fail"), "replayed", script);
    const state = await waitForFinalState(owner.getAgentUrl("fail"), taskId, 30_000);
    if (state !== "TASK_STATE_COMPLETED") addProblem(`the task is ${state}`);
    let isDeleted = false;
    let replacedByTask = 0;
    const replays = await Promise.all(
      Array.from({ length: READERS }, async () => {
        let numbers: number[] = [];
        let hasWaited = false;
        let hasEnded = false;
        const signal = AbortSignal.timeout(60_000);
        const request = createSubscribeRequest(other.getAgentUrl("fail"), taskId, 1);
        for await (const { data } of readSseStream({ ...request, signal })) {
          if (data.includes('"error"')) break;
          const event = decodeStreamData(data);
          if ("task" in event) {
            // The task replaces the events that are deleted.
            if (numbers.length > 0) replacedByTask++;
            numbers = [];
          }
          numbers.push(...readEventChunks(event).map(({ number }) => number));
          hasEnded ||= isFinalState(readEventState(event));
          if (hasWaited || numbers.length === 0) continue;
          hasWaited = true;
          isDeleted = await waitForDeletion(database);
        }
        return { numbers, hasEnded };
      }),
    );
    if (!isDeleted) addProblem("the retention has not deleted the task");
    addFigure("readers", READERS);
    addFigure("chunks", CHUNKS);
    addFigure("gaps", replays.filter(({ numbers }) => numbers.some((number, at) => number !== at)).length);
    addFigure("replacedByTask", replacedByTask);
    addFigure("wholeReplays", replays.filter(({ numbers }) => numbers.length === CHUNKS).length);
    addFigure(
      "endedWithMissingChunks",
      replays.filter(({ numbers, hasEnded }) => hasEnded && numbers.length < CHUNKS).length,
    );
  },
};

/** Waits until the retention has deleted all tasks, and resolves with false if it does not. */
async function waitForDeletion(database: string): Promise<boolean> {
  const deadline = performance.now() + WAIT_MS;
  while (performance.now() < deadline) {
    const rows = await runTestSql(database, "SELECT 1 FROM colloquy.task LIMIT 1");
    if (rows.length === 0) return true;
    await pause(50);
  }
  return false;
}
