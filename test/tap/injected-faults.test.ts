/** Tests that the model of a record marks exactly the faults that the tap injected between two official SDKs. */
import { JsonRpcTransportFactory, RestTransportFactory, type Client } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningTestServer } from "../../src/client/a2a-client.contract.ts";
import { serveWithOfficialSdk } from "../../src/client/a2a-js-server.fixture.ts";
import type { TimelineMark } from "../../src/observe/trace/index.ts";
import { collectEvents, createSdkClient, createTextRequest } from "../interop/sdk-client.ts";
import { startTestTap, waitForLines, type RecordingTestTap } from "./tapped-record.ts";

/** Events of the stream: a task, a status, three artifact chunks, and the final status. */
const EVENT_COUNT = 6;

interface InjectedStreamFaults {
  readonly cutAfter: number | undefined;
  readonly dropped: readonly number[];
  readonly duplicated: readonly number[];
}

const position = fc.integer({ min: 1, max: EVENT_COUNT + 1 });
const streamFaults: fc.Arbitrary<InjectedStreamFaults> = fc.record({
  cutAfter: fc.option(position, { nil: undefined }),
  dropped: fc.uniqueArray(position, { maxLength: 3 }),
  duplicated: fc.uniqueArray(position, { maxLength: 3 }),
});

/** Simulates a stream, and returns the marks that the record must show, in the order of time. */
function expectMarks({ cutAfter = Infinity, dropped, duplicated }: InjectedStreamFaults): object[] {
  const marks: object[] = [];
  let lastReceived = 0;
  let isCut = false;
  for (let event = 1; event <= EVENT_COUNT && !isCut; event++) {
    if (dropped.includes(event)) marks.push({ kind: "fault", fault: "drop", detail: `event ${event}` });
    else {
      if (lastReceived < event - 1)
        marks.push({ kind: "gap", where: "frames", from: lastReceived + 1, to: event - 1 });
      lastReceived = event;
      if (duplicated.includes(event))
        marks.push(
          { kind: "duplicate", where: "stream" },
          { kind: "fault", fault: "duplicate", detail: `event ${event}` },
        );
    }
    isCut = event >= cutAfter;
    if (isCut) marks.push({ kind: "fault", fault: "cut", detail: `after ${event} events` });
  }
  if (isCut || lastReceived < EVENT_COUNT) marks.push({ kind: "cut" });
  return marks;
}

function removeError(mark: TimelineMark): object {
  if (!("error" in mark)) return mark;
  const { error: _, ...rest } = mark;
  return rest;
}

let server: RunningTestServer;
let tap: RecordingTestTap;
beforeAll(async () => {
  server = await serveWithOfficialSdk();
  tap = await startTestTap([server.url]);
});
afterAll(async () => {
  await tap.close();
  await server.close();
});

describe.each([
  ["JSONRPC", new JsonRpcTransportFactory()],
  ["HTTP+JSON", new RestTransportFactory()],
  ["GRPC", new GrpcTransportFactory()],
] as const)("the marks of a record over %s", (binding, transport) => {
  let client: Client;
  beforeAll(async () => {
    client = await createSdkClient(tap.url, binding, transport);
  });

  it("are the injected faults, for any cuts, drops, and doubles [E22]", async () => {
    await fc.assert(
      fc.asyncProperty(streamFaults, async (faults) => {
        const { cutAfter, dropped, duplicated } = faults;
        tap.tap.faults.removeAll();
        if (cutAfter !== undefined) tap.tap.faults.add(`cut:after=${cutAfter}`);
        for (const event of dropped) tap.tap.faults.add(`drop:frame=${event}`);
        for (const event of duplicated) tap.tap.faults.add(`duplicate:frame=${event}`);
        const request = createTextRequest("count");
        // A cut makes the client throw, and a drop can do so.
        await collectEvents(client.sendMessageStream(request)).catch(() => {});
        const messageId = request.message?.messageId;
        await waitForLines(tap, (lines) =>
          lines.some((line) => line.kind === "stream-end" && line.message_id === messageId),
        );
        const model = await tap.readModel();
        const call = [...model.calls.values()].find((one) => one.messageId === messageId);
        const task = model.findTask(call?.taskKey ?? "");
        if (task === undefined) {
          // The client received no event, so that no line states the task.
          expect(call?.frameCount).toBe(0);
          expect(call?.faults.map(({ line }) => line.fault)).toEqual(
            expectMarks(faults).flatMap((mark) => ("fault" in mark ? [mark.fault] : [])),
          );
        } else
          expect(task.timeline.flatMap(({ marks }) => marks.map(removeError))).toEqual(expectMarks(faults));
      }),
      { numRuns: 40 },
    );
  });
});

describe("faults of calls", () => {
  let client: Client;
  beforeAll(async () => {
    tap.tap.faults.removeAll();
    client = await createSdkClient(tap.url, "JSONRPC", new JsonRpcTransportFactory());
  });

  const sendWithFault = async (
    fault: string,
  ): Promise<{ error: unknown; kinds: string[]; durationMs: number }> => {
    tap.tap.faults.removeAll();
    tap.tap.faults.add(fault);
    const request = createTextRequest("count");
    const startMs = performance.now();
    const error: unknown = await client.sendMessage(request).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const durationMs = performance.now() - startMs;
    const lines = await waitForLines(tap, (all) =>
      all.some((line) => line.kind === "response" && line.message_id === request.message?.messageId),
    );
    const ofCall = lines.filter(
      (line) => "message_id" in line && line.message_id === request.message?.messageId,
    );
    return {
      error,
      kinds: ofCall.map((line) => (line.kind === "fault" ? line.fault : line.kind)),
      durationMs,
    };
  };

  it("delay the request", async () => {
    const { error, kinds, durationMs } = await sendWithFault("delay:ms=300");
    expect([error, kinds]).toEqual([undefined, ["request", "delay", "response"]]);
    expect(durationMs).toBeGreaterThanOrEqual(299);
  });

  it("reject the request before it reaches the agent", async () => {
    const { error, kinds } = await sendWithFault("429:retry-after=2");
    expect(String(error)).toContain("429");
    expect(kinds).toEqual(["request", "reject", "response"]);
  });

  it("drop the response, although the agent has received the request", async () => {
    const { error, kinds } = await sendWithFault("drop");
    expect(error).toBeInstanceOf(Error);
    expect(kinds).toEqual(["request", "drop", "response"]);
  });

  it("slow down the response", async () => {
    const { error, kinds, durationMs } = await sendWithFault("slow:bytes-per-s=2000");
    expect([error, kinds]).toEqual([undefined, ["request", "slow", "response"]]);
    expect(durationMs).toBeGreaterThan(100);
  });

  it("kill the agent: open streams break, and later connections are refused for a time", async () => {
    tap.tap.faults.removeAll();
    tap.tap.faults.add("slow:bytes-per-s=200,times=1");
    const streamed = createTextRequest("count");
    const messageId = streamed.message?.messageId;
    const brokenStream = collectEvents(client.sendMessageStream(streamed)).catch((error: unknown) => error);
    await waitForLines(tap, (lines) =>
      lines.some((line) => line.kind === "response" && line.message_id === messageId),
    );
    const { error, kinds } = await sendWithFault("kill:ms=1");
    expect(error).toBeInstanceOf(Error);
    expect(kinds).toEqual(["request", "kill", "response"]);
    expect(await brokenStream).toBeInstanceOf(Error);
    const lines = await waitForLines(tap, (all) =>
      all.some((line) => line.kind === "stream-end" && line.message_id === messageId),
    );
    const ofStream = lines.filter((line) => "message_id" in line && line.message_id === messageId);
    expect(ofStream.map((line) => (line.kind === "fault" ? line.fault : line.kind))).toEqual(
      expect.arrayContaining(["slow", "kill"]),
    );
    expect(ofStream.at(-1)).toMatchObject({ kind: "stream-end", reason: "cut" });
  });

  it("kill the agent for a time", async () => {
    const killed = await startTestTap([server.url], { faults: ["kill:ms=60000,times=1"] });
    const sender = await createSdkClient(killed.url, "JSONRPC", new JsonRpcTransportFactory());
    await expect(sender.sendMessage(createTextRequest("count"))).rejects.toThrow();
    await expect(sender.sendMessage(createTextRequest("count"))).rejects.toThrow();
    expect((await killed.readLines()).filter(({ kind }) => kind === "request")).toHaveLength(2);
    await killed.close();
  });

  it("affect only the operations of `match`", async () => {
    const { error, kinds } = await sendWithFault("503:match=GetTask");
    expect([error, kinds]).toEqual([undefined, ["request", "response"]]);
    await expect(client.getTask({ tenant: "", id: "any" })).rejects.toThrow("503");
  });
});
