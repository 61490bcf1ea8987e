import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../../src/adapters/index.ts";
import { isTerminal, getText, type Part, type StreamResponse } from "../../src/protocol/index.ts";
import { createServer } from "../../src/server/index.ts";
import { STREAM_REQUESTS, fetchTask, createUserMessage, type HttpBinding } from "../http-bindings.ts";
import { readSseStream, type SseFrame } from "../raw-stream.ts";
import { STORE_FACTORIES } from "../store-factories.ts";

const CLIENTS = 200;
/** Merging changes the size of events and not how streams resume, so that fewer streams suffice. */
const CLIENTS_OF_MERGED_CHUNKS = 50;
const CUTS_PER_CLIENT = 5;
/** Long enough to be cut, even if many chunks are merged into a few events. */
const CHUNKS = Array.from({ length: 60 }, (_, at) => `chunk ${at} ${"x".repeat(200)};`);

/** The request with which a client resumes: a subscription, or the original message again. */
type ResumeMethod = "SubscribeToTask" | "the same message";
const RESUME_CASES: readonly { binding: HttpBinding; resume: ResumeMethod }[] = [
  { binding: "JSONRPC", resume: "SubscribeToTask" },
  { binding: "JSONRPC", resume: "the same message" },
  { binding: "HTTP+JSON", resume: "SubscribeToTask" },
  { binding: "HTTP+JSON", resume: "the same message" },
];

// The agent never repeats text, so the test finds lost and repeated events.
const counter = agent(
  { name: "counter", description: "Counts" },
  async function* () {
    for (const chunk of CHUNKS) {
      yield chunk;
      await setTimeout(1);
    }
  },
  { artifacts: "pieces" },
);

const SERVERS = STORE_FACTORIES.flatMap(({ name, openStore }) => [
  { name, merge: false, openStore },
  { name: `${name}, with ${CLIENTS_OF_MERGED_CHUNKS} streams of merged chunks`, merge: true, openStore },
]);

describe(`${CLIENTS} streams at once, each cut ${CUTS_PER_CLIENT} times at random points and resumed`, () => {
  it.each(SERVERS)(
    "lose no event and receive none twice with $name [E3, E4, F-53, G-03]",
    async ({ openStore, merge }) => {
      const { store, remove } = await openStore();
      onTestFinished(remove);
      const server = createServer({ counter }, { store, mergeChunks: merge });
      onTestFinished(() => server.close());
      const { agents } = await server.listen();
      const url = agents[0]?.url ?? "";

      const random = seededRandom(20_261_121);
      const clientCount = merge ? CLIENTS_OF_MERGED_CHUNKS : CLIENTS;
      const clients = Array.from({ length: clientCount }, async (_, number) => {
        const resumeCase = RESUME_CASES[number % RESUME_CASES.length] as (typeof RESUME_CASES)[number];
        const cuts = Array.from({ length: CUTS_PER_CLIENT }, () => 1 + Math.floor(random() * 2000));
        return { way: resumeCase, ...(await readWithCuts(url, `message-${number}`, resumeCase, cuts)) };
      });
      for (const { frames, way, cutsDone } of await Promise.all(clients)) {
        const events = frames.map(({ data }) => STREAM_REQUESTS[way.binding].event(data));
        const first = events[0];
        const task = first && "task" in first ? await fetchTask(url, first.task.id) : undefined;

        expect(cutsDone).toBe(CUTS_PER_CLIENT);
        expect(frames.map(({ id }) => id)).toEqual(frames.map((_, at) => at + 1));
        expect(getText(events.flatMap(getArtifactParts))).toBe(CHUNKS.join(""));
        expect(events.at(-1)).toMatchObject({ statusUpdate: { status: task?.status } });
        expect(task?.artifacts?.[0]?.parts).toEqual([{ text: CHUNKS.join("") }]);
      }
    },
    60_000,
  );
});

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

function isTerminalEvent(event: StreamResponse): boolean {
  return "statusUpdate" in event && isTerminal(event.statusUpdate.status.state);
}

/** Creates a reproducible generator of numbers from 0 to 1 (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
