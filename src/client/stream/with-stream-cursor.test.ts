import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addEventPosition, getText, type StreamResponse } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import { collectStreamEventsForTest } from "../a2a-client.contract.ts";
import { createBreakingProxy } from "../breaking-proxy.fixture.ts";
import { connect } from "../index.ts";
import { scriptedAgent } from "../scripted-agent.fixture.ts";
import type { ReceivedStreamEvent, StreamCallOptions, Transport } from "../transport/transport.ts";
import { openResumableStream } from "./resumable-stream.ts";
import { withStreamCursor } from "../negotiated-extensions.ts";

const IDS = { taskId: "t", contextId: "c" };

/** The visible events of a log. The missing number 4 is a user's message, which streams do not contain. */
const LOGGED_EVENTS: readonly (readonly [number, StreamResponse])[] = [
  [1, { task: { id: "t", contextId: "c", status: { state: "TASK_STATE_SUBMITTED" } } }],
  [2, { statusUpdate: { ...IDS, status: { state: "TASK_STATE_WORKING" } } }],
  [3, { artifactUpdate: { ...IDS, artifact: { artifactId: "a", parts: [{ text: "3" }] } } }],
  [5, { artifactUpdate: { ...IDS, artifact: { artifactId: "a", parts: [{ text: "5" }] }, append: true } }],
  [6, { artifactUpdate: { ...IDS, artifact: { artifactId: "a", parts: [{ text: "6" }] }, append: true } }],
  [7, { statusUpdate: { ...IDS, status: { state: "TASK_STATE_COMPLETED" }, metadata: { own: true } } }],
];

/** How a network changes one attempt: the events it drops or repeats, and the number of events before a cut. */
interface AttemptFaults {
  readonly dropped: readonly number[];
  readonly repeated: readonly number[];
  readonly cutAfter: number;
}

/** A transport that sends the log with positions, and applies the faults of one attempt after the other. */
function createFaultyTransport(faults: AttemptFaults[]): Transport {
  return {
    version: "1.0",
    call: () => Promise.reject(new Error("not called")),
    async *stream(
      _operation,
      _params,
      { lastEventId }: StreamCallOptions,
    ): AsyncGenerator<ReceivedStreamEvent> {
      const { dropped, repeated, cutAfter } = faults.shift() ?? { dropped: [], repeated: [], cutAfter: 100 };
      let previousGeneration = lastEventId === undefined ? undefined : Number(lastEventId);
      const later = LOGGED_EVENTS.filter(([seq]) => seq > (previousGeneration ?? 0));
      for (const [index, [generation, event]] of later.entries()) {
        if (index >= cutAfter) return;
        const position = { generation, ...(previousGeneration === undefined ? {} : { previousGeneration }) };
        const sent = { event: addEventPosition(event, position) };
        if (!dropped.includes(generation) || "task" in event) yield sent;
        if (repeated.includes(generation) && !("task" in event)) yield sent;
        previousGeneration = generation;
      }
    },
  };
}

const seqs = fc.subarray(LOGGED_EVENTS.map(([seq]) => seq));
const attemptFaults: fc.Arbitrary<AttemptFaults> = fc.record({
  dropped: fc.oneof(fc.constant([]), seqs),
  repeated: fc.oneof(fc.constant([]), seqs),
  cutAfter: fc.integer({ min: 0, max: 7 }),
});

it("a stream with positions yields each event once, whatever the network drops, repeats, or cuts [E3, E4]", async () => {
  const sleep = (): Promise<void> => Promise.resolve();
  await fc.assert(
    fc.asyncProperty(fc.array(attemptFaults, { maxLength: 6 }), async (faults) => {
      const transport = withStreamCursor(createFaultyTransport([...faults]));
      const send = { message: { messageId: "m", role: "ROLE_USER" as const, parts: [{ text: "x" }] } };
      const events = await collectStreamEventsForTest(
        openResumableStream(
          transport,
          { send, isRepeatable: true },
          {},
          { reconnect: { maxRetries: 10, sleep }, maxTaskBytes: Infinity },
        ),
      );
      expect(events).toEqual(LOGGED_EVENTS.map(([, event]) => event));
    }),
    { numRuns: 300 },
  );
});

interface ClientVector {
  readonly name: string;
  readonly after: number | null;
  readonly events: readonly StreamResponse[];
  readonly accepted: readonly number[];
  readonly gap: boolean;
}

const vectorUrl = new URL("../../../docs/extensions/vectors/stream-cursor-v1.json", import.meta.url);
const { client: vectors } = JSON.parse(readFileSync(vectorUrl, "utf8")) as { client: ClientVector[] };

it.each(vectors)("receives events as in the vectors of the stream cursor: $name", async (vector) => {
  const transport: Transport = {
    ...createFaultyTransport([]),
    async *stream() {
      for (const event of vector.events) yield { event };
    },
  };
  const call = vector.after === null ? {} : { lastEventId: String(vector.after) };
  const accepted: (string | undefined)[] = [];
  const read = async (): Promise<void> => {
    for await (const { id, event } of withStreamCursor(transport).stream(
      "SubscribeToTask",
      { id: "t" },
      call,
    )) {
      accepted.push(id);
      expect(JSON.stringify(event)).not.toContain("urn:colloquy");
    }
  };
  if (vector.gap) await expect(read()).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  else await read();
  expect(accepted.map(Number)).toEqual(vector.accepted);
});

it("events without a position pass unchanged", async () => {
  const [, status] = LOGGED_EVENTS[1]!;
  const received: ReceivedStreamEvent = { id: "9", event: status };
  const plain: Transport = {
    ...createFaultyTransport([]),
    async *stream() {
      yield received;
    },
  };
  const events: ReceivedStreamEvent[] = [];
  const params = { id: "t" };
  for await (const event of withStreamCursor(plain).stream("SubscribeToTask", params, {})) events.push(event);
  expect(events).toEqual([received]);
});

describe.each(["1.0", "0.3"] as const)("over gRPC %s and an unreliable network", (version) => {
  it("a stream resumes after its last event, without another snapshot [E3, E4]", async () => {
    const server = createServer(scriptedAgent, { store: "memory", mergeChunks: false });
    const { url, grpc } = await server.listen({ grpc: true });
    const network = await createBreakingProxy(`http://127.0.0.1:${grpc?.port}`);
    const proxied = network.url.replace("http://", "");
    const fetchCard: typeof fetch = async (input, init) => {
      const card = await (await fetch(input, init)).text();
      return new Response(card.replaceAll(`127.0.0.1:${grpc?.port}`, proxied), {
        headers: { "content-type": "application/json" },
      });
    };
    let cuts = 0;
    const sleep = (ms: number): Promise<void> => {
      if (ms !== 1_000) cuts += 1;
      return Promise.resolve();
    };
    const reconnect = { maxRetries: 20, sleep };
    const remote = await connect(url, { binding: "GRPC", version, grpc: {}, fetch: fetchCard, reconnect });
    for (const breaks of [[1_500], [2_000, 900, 900], [3_000, 700]]) {
      network.breakAfter(breaks);
      const events = await collectStreamEventsForTest(remote.stream("numbers 60"));
      expect(events.filter((event) => "task" in event)).toHaveLength(1);
      const parts = events.flatMap((event) =>
        "artifactUpdate" in event ? event.artifactUpdate.artifact.parts : [],
      );
      expect(getText(parts)).toBe(Array.from({ length: 60 }, (_, index) => `${index + 1} `).join(""));
      expect(JSON.stringify(events)).not.toContain("urn:colloquy");
    }
    expect(cuts).toBeGreaterThanOrEqual(3);
    network.close();
    await server.close();
  });
});
