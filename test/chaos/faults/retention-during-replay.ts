import { setTimeout as pause } from "node:timers/promises";
import { readSseStream } from "../../raw-stream.ts";
import {
  createSubscribeRequest,
  decodeStreamData,
  readEventChunks,
  startTask,
  waitForFinalState,
} from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";

const READERS = 10;
const CHUNKS = 2000;
const KEEP_EVENTS_MS = 1500;

export const fault: ChaosFault = {
  title: "the retention deletes the events of an ended task while slow clients replay them on both nodes",
  promise: "Each client ends with the whole task: from the events, or from a task event that replaces them.",
  maxSeconds: 90,
  bars: { incomplete: 0 },
  async inject({ startNode, addFigure, addProblem }) {
    const options = { leaseMs: 15_000, eventRetentionMs: KEEP_EVENTS_MS };
    const nodes = [await startNode(options), await startNode(options)];
    const urls = nodes.map((node) => node.getAgentUrl("fail"));
    const [url = ""] = urls;
    const script = { chunks: CHUNKS, intervalMs: 0, padding: 2000 };
    const taskId = await startTask(url, "replayed", script);
    const state = await waitForFinalState(url, taskId, 30_000);
    if (state !== "TASK_STATE_COMPLETED") addProblem(`the task is ${state}`);
    let resets = 0;
    const complete = await Promise.all(
      Array.from({ length: READERS }, async (_, reader) => {
        let numbers: number[] = [];
        const signal = AbortSignal.timeout(60_000);
        const request = createSubscribeRequest(urls[reader % 2] ?? "", taskId, 1);
        for await (const { data } of readSseStream({ ...request, signal })) {
          const event = decodeStreamData(data);
          if ("task" in event) {
            if (numbers.length > 0) resets++;
            numbers = [];
          }
          numbers.push(...readEventChunks(event).map(({ number }) => number));
          // The slowest reader takes four times as long as the events are kept.
          if (numbers.length % 10 === 0) await pause(3 * reader);
        }
        return numbers.length === CHUNKS && numbers.every((number, at) => number === at);
      }),
    );
    addFigure("readers", READERS);
    addFigure("events", CHUNKS);
    addFigure("replacedByTask", resets);
    addFigure("incomplete", complete.filter((isComplete) => !isComplete).length);
  },
};
