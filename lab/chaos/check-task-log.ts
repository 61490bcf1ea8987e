import { readSseStream } from "../../test/support/raw-stream.ts";
import {
  createSubscribeRequest,
  decodeStreamData,
  readEventChunks,
  readEventState,
} from "./agent-requests.ts";
import { findChunkProblems } from "./chunk-text.ts";
import type { ObservedTask } from "./observed-task.ts";

const LOG_TIMEOUT_MS = 5000;

/** Reads all events of an ended task, as a client that has no event. */
export async function readTaskLog(agentUrl: string, taskId: string): Promise<Map<number, string>> {
  const request = createSubscribeRequest(agentUrl, taskId, 0);
  const frames = new Map<number, string>();
  for await (const { id, data } of readSseStream({ ...request, signal: AbortSignal.timeout(LOG_TIMEOUT_MS) }))
    frames.set(id, data);
  return frames;
}

/** Returns the difference between what the client of an ended task has received and the task's log. */
export async function findTaskLogProblems(agentUrl: string, task: ObservedTask): Promise<string[]> {
  const { taskId, policy } = task;
  if (taskId === undefined) return task.problems;
  let log: Map<number, string>;
  try {
    log = await readTaskLog(agentUrl, taskId);
  } catch (error) {
    return [...task.problems, `the log of task ${taskId} cannot be read: ${String(error)}`];
  }
  return [
    ...task.problems,
    ...findLostEvents(task.frames, log),
    ...findLogProblems(log, policy),
    ...(isCancelOverwritten(task, log) ? ["its cancel was acknowledged, but it ended in another state"] : []),
  ].map((problem) => `${policy} task ${taskId}: ${problem}`);
}

/** Returns which events of a client are not in the log as the client received them. */
function findLostEvents(frames: ReadonlyMap<number, string>, log: ReadonlyMap<number, string>): string[] {
  return [...frames]
    .filter(([seq, data]) => log.get(seq) !== data)
    .map(([seq]) => `event ${seq} is ${log.has(seq) ? "changed" : "lost"}`);
}

/** Returns gaps of the sequence numbers, wrong chunks, and events after the end. */
function findLogProblems(log: ReadonlyMap<number, string>, policy: string): string[] {
  const events = [...log.values()].map(decodeStreamData);
  const gaps = [...log.keys()].filter((seq, at) => seq !== at + 1);
  const endAt = events.findIndex((event) => /COMPLETED|FAILED|CANCELED/.test(readEventState(event) ?? ""));
  return [
    ...gaps.slice(0, 1).map((seq) => `the log has a gap before event ${seq}`),
    ...(endAt === -1 ? ["it has not ended"] : []),
    ...(endAt >= 0 && endAt < events.length - 1 ? [`events follow its end at ${endAt + 1}`] : []),
    ...findChunkProblems(events.flatMap(readEventChunks), policy),
  ];
}

function isCancelOverwritten({ acknowledgedCancelState }: ObservedTask, log: ReadonlyMap<number, string>) {
  if (acknowledgedCancelState !== "TASK_STATE_CANCELED") return false;
  const last = [...log.values()].at(-1);
  return last === undefined || readEventState(decodeStreamData(last)) !== "TASK_STATE_CANCELED";
}
