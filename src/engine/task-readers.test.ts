import { describe, expect, it } from "vitest";
import { getText } from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import {
  alice,
  inputRequiredTestEvent,
  createTestChunkEvent,
  collectSubscriptionEventsForTest,
  createEngineFixture,
  createTestSendMessageRequest,
  flushEventLoopForTest,
  formatTaskEventForTest,
  workingTestEvent,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
} from "./engine.fixture.ts";

describe("readers", () => {
  it("start with the task and follow it across turns to its end [E3, F-50, F-52, G-02, G-03]", async () => {
    const { engine, agent } = createEngineFixture();
    const first = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    const id = run.run.taskId;
    const readers = [
      await engine.subscribeToTask({ id }, alice),
      await engine.subscribeToTask({ id }, alice),
    ];
    run.emit(createTestChunkEvent("a", false), inputRequiredTestEvent).end();
    await first;
    const early = await engine.subscribeToTask({ id }, alice);
    await early.next();
    early.close();
    const second = engine.sendMessage(createTestSendMessageRequest("go", { taskId: id }), alice);
    (await agent.waitForRun(1)).emit(workingTestEvent, createTestChunkEvent("b")).end();
    await second;
    const [one, two] = await Promise.all(readers.map(collectSubscriptionEventsForTest));
    expect(one).toEqual(two);
    expect(one?.map(({ event }) => formatTaskEventForTest(event))).toEqual([
      "task WORKING",
      "a",
      "INPUT_REQUIRED",
      "WORKING",
      "b",
      "COMPLETED",
    ]);
  });

  it("of a message's stream stop where the turn asks for input [G-04]", async () => {
    const { engine, agent } = createEngineFixture();
    const stream = engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).emit(workingTestEvent, inputRequiredTestEvent).end();
    expect(
      (await collectSubscriptionEventsForTest(await stream)).map(({ event }) =>
        formatTaskEventForTest(event),
      ),
    ).toEqual(["task SUBMITTED", "WORKING", "INPUT_REQUIRED"]);
  });

  it("of a message's stream stay connected while the task waits for authorization [G-04, M-05]", async () => {
    const { engine, agent } = createEngineFixture();
    const stream = engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.emit({ status: { state: "TASK_STATE_AUTH_REQUIRED" } });
    await flushEventLoopForTest();
    run.emit(workingTestEvent).end();
    expect(
      (await collectSubscriptionEventsForTest(await stream))
        .map(({ event }) => formatTaskEventForTest(event))
        .slice(1),
    ).toEqual(["AUTH_REQUIRED", "WORKING", "COMPLETED"]);
  });

  it("of a message's stream end when the turn has ended while the task waits for authorization [G-04]", async () => {
    const { engine, agent } = createEngineFixture();
    const request = createTestSendMessageRequest("hi");
    const events = engine.sendStreamingMessage(request, alice).then(collectSubscriptionEventsForTest);
    const run = await agent.waitForRun(0);
    run.emit({ status: { state: "TASK_STATE_AUTH_REQUIRED" } });
    await flushEventLoopForTest();
    run.end();
    const expected = ["task SUBMITTED", "AUTH_REQUIRED"];
    expect((await events).map(({ event }) => formatTaskEventForTest(event))).toEqual(expected);
    // A repeated request and a resumed stream end at the same event.
    for (const [resumeAfterSeq, rest] of [
      [undefined, expected],
      [1, expected.slice(1)],
      [2, []],
    ] as const) {
      const again = await engine.sendStreamingMessage(request, alice, { resumeAfterSeq });
      expect(
        (await collectSubscriptionEventsForTest(again)).map(({ event }) => formatTaskEventForTest(event)),
      ).toEqual(rest);
      expect(again.isComplete).toBe(true);
    }
  });

  it("of a subscription stay connected after a turn that ended while the task waits for authorization", async () => {
    const { engine, agent } = createEngineFixture();
    void engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    const { taskId } = run.run;
    run.emit({ status: { state: "TASK_STATE_AUTH_REQUIRED" } }).end();
    await flushEventLoopForTest();
    const events = engine.subscribeToTask({ id: taskId }, alice).then(collectSubscriptionEventsForTest);
    await flushEventLoopForTest();
    void engine.sendMessage(createTestSendMessageRequest("here is my token", { taskId }), alice);
    (await agent.waitForRun(1)).end();
    expect((await events).map(({ event }) => formatTaskEventForTest(event))).toEqual([
      "task AUTH_REQUIRED",
      "WORKING",
      "COMPLETED",
    ]);
  });

  it("that disconnect do not affect the task [E2, F-19]", async () => {
    const { engine, agent } = createEngineFixture();
    const stream = await engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    await stream.next();
    stream.close();
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent, createTestChunkEvent("whole", false)).end();
    await flushEventLoopForTest();
    const task = await engine.getTask({ id: run.run.taskId }, alice);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getText(task.artifacts?.[0]?.parts ?? [])).toBe("whole");
    expect(await stream.next()).toBeUndefined();
  });

  it("that never read do not delay the task [E2, E5]", async () => {
    const { engine, agent } = createEngineFixture({ mergeChunks: false });
    const stalled = await engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    const reader = collectSubscriptionEventsForTest(
      await engine.subscribeToTask({ id: run.run.taskId }, alice),
    );
    run.emit(workingTestEvent);
    for (let at = 0; at < 5000; at++) run.emit(createTestChunkEvent(`${at} `, at > 0));
    run.end();
    const seen = await reader;
    expect(seen.at(-1) && formatTaskEventForTest(seen.at(-1)!.event)).toBe("COMPLETED");
    // The stalled reader then reads every event once from the log.
    const late = await collectSubscriptionEventsForTest(stalled);
    expect(late.map(({ seq }) => seq)).toEqual(Array.from({ length: 5003 }, (_, at) => at + 1));
  });

  it("resume exactly after their last event, even when the task has ended [E4]", async () => {
    const { engine, agent } = createEngineFixture({ mergeChunks: false });
    const stream = engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent, createTestChunkEvent("a", false), createTestChunkEvent("b")).end();
    const seen = await collectSubscriptionEventsForTest(await stream);
    for (let after = 0; after <= seen.length; after++) {
      const rest = await collectSubscriptionEventsForTest(
        await engine.subscribeToTask({ id: run.run.taskId }, alice, { resumeAfterSeq: after }),
      );
      expect(rest).toEqual(seen.slice(after));
    }
    const beyond = engine.subscribeToTask({ id: run.run.taskId }, alice, { resumeAfterSeq: 99 });
    await expect(beyond).rejects.toMatchObject({ violations: [{ field: "Last-Event-ID" }] });
  });

  it("of a finished or missing task are rejected [F-51]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).end();
    const { id } = getTestResponseTask(await answer);
    expect(await getRejectionA2AErrorReasonForTest(engine.subscribeToTask({ id }, alice))).toBe(
      "UNSUPPORTED_OPERATION",
    );
    expect(await getRejectionA2AErrorReasonForTest(engine.subscribeToTask({ id: "nope" }, alice))).toBe(
      "TASK_NOT_FOUND",
    );
  });

  it("see only durable events [E1]", async () => {
    const store = new MemoryStore();
    const gate = Promise.withResolvers<void>();
    let gated = false;
    const commit = store.commit.bind(store);
    store.commit = async (batch) => {
      if (gated) await gate.promise;
      return commit(batch);
    };
    const { engine, agent } = createEngineFixture({ store });
    const stream = await engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    expect(await stream.next()).toHaveLength(1);
    gated = true;
    run.emit(workingTestEvent, createTestChunkEvent("x", false));
    let seen = false;
    const next = Promise.resolve(stream.next()).then((events) => {
      seen = true;
      return events;
    });
    await flushEventLoopForTest();
    expect(seen).toBe(false);
    expect((await engine.getTask({ id: run.run.taskId }, alice)).status.state).toBe("TASK_STATE_SUBMITTED");
    gate.resolve();
    expect((await next)?.map(({ seq }) => seq)).toEqual([2, 3]);
    run.end();
  });
});
