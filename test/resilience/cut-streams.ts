import { expect } from "vitest";
import { getText, isTerminal, type Part, type StreamResponse } from "../../src/protocol/index.ts";
import { createUserMessage, fetchTask, STREAM_REQUESTS, type HttpBinding } from "../support/http-bindings.ts";
import { readSseStream, type SseFrame } from "../support/raw-stream.ts";
import { COUNTED_CHUNKS } from "./counted-chunks.ts";

/** The request with which a client resumes: a subscription, or the original message again. */
type ResumeMethod = "SubscribeToTask" | "the same message";
const RESUME_CASES: readonly { binding: HttpBinding; resume: ResumeMethod }[] = [
  { binding: "JSONRPC", resume: "SubscribeToTask" },
  { binding: "JSONRPC", resume: "the same message" },
  { binding: "HTTP+JSON", resume: "SubscribeToTask" },
  { binding: "HTTP+JSON", resume: "the same message" },
];

/**
 * Opens streams of an agent that sends `COUNTED_CHUNKS`, cuts each stream at random points, and resumes it. Throws an
 * assertion error if a client loses an event or receives one twice.
 */
export async function expectWholeStreams(
  url: string,
  { clients: clientCount, cuts: cutCount }: { readonly clients: number; readonly cuts: number },
): Promise<void> {
  const random = seededRandom(20_261_121);
  const clients = Array.from({ length: clientCount }, async (_, number) => {
    const resumeCase = RESUME_CASES[number % RESUME_CASES.length] as (typeof RESUME_CASES)[number];
    const cuts = Array.from({ length: cutCount }, () => 1 + Math.floor(random() * 2000));
    return { way: resumeCase, ...(await readWithCuts(url, `message-${number}`, resumeCase, cuts)) };
  });
  for (const { frames, way, cutsDone } of await Promise.all(clients)) {
    const events = frames.map(({ data }) => STREAM_REQUESTS[way.binding].event(data));
    const first = events[0];
    const task = first && "task" in first ? await fetchTask(url, first.task.id) : undefined;

    expect(cutsDone).toBe(cutCount);
    expect(frames.map(({ id }) => id)).toEqual(frames.map((_, at) => at + 1));
    expect(getText(events.flatMap(getArtifactParts))).toBe(COUNTED_CHUNKS.join(""));
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: task?.status } });
    expect(task?.artifacts?.[0]?.parts).toEqual([{ text: COUNTED_CHUNKS.join("") }]);
  }
}

/**
 * Reads all events of one client until the stream ends. `cuts` are the numbers of bytes after which a
 * connection is closed.
 */
async function readWithCuts(
  url: string,
  messageId: string,
  { binding, resume }: { binding: HttpBinding; resume: ResumeMethod },
  cuts: number[],
): Promise<{ frames: SseFrame[]; cutsDone: number }> {
  const { send, subscribe, event } = STREAM_REQUESTS[binding];
  const frames: SseFrame[] = [];
  let taskId: string | undefined;
  let cutsDone = 0;
  for (;;) {
    const request =
      resume === "SubscribeToTask" && taskId !== undefined
        ? subscribe(url, taskId)
        : send(url, createUserMessage(messageId, "count"));
    const last = frames.at(-1);
    const headers = last ? { "last-event-id": String(last.id) } : {};
    const cutAfter = cuts.shift();
    for await (const frame of readSseStream({ ...request, headers }, cutAfter)) {
      frames.push(frame);
      const received = event(frame.data);
      if ("task" in received) taskId = received.task.id;
    }
    const end = frames.at(-1);
    if (end && isTerminalEvent(event(end.data))) return { frames, cutsDone };
    cutsDone++;
  }
}

function getArtifactParts(event: StreamResponse): Part[] {
  return "artifactUpdate" in event ? event.artifactUpdate.artifact.parts : [];
}

export function isTerminalEvent(event: StreamResponse): boolean {
  return "statusUpdate" in event && isTerminal(event.statusUpdate.status.state);
}

/** Creates a reproducible generator of numbers from 0 to 1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
