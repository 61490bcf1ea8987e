import { describe, expect, it } from "vitest";
import {
  alice,
  bob,
  collectSubscriptionEventsForTest,
  createEngineFixture,
  createTestSendMessageRequest,
  flushEventLoopForTest,
  formatTaskEventForTest,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
  inputRequiredTestEvent,
  ScriptedAgent,
  workingTestEvent,
} from "./engine.fixture.ts";

const send = (text: string, more: object = {}): ReturnType<typeof createTestSendMessageRequest> =>
  createTestSendMessageRequest(text, { contextId: "c", ...more });

describe("an agent that queues the turns of a context", () => {
  const createQueueFixture = (
    more: object = {},
    limits: object = {},
  ): ReturnType<typeof createEngineFixture> =>
    createEngineFixture({ agent: new ScriptedAgent({ concurrentTurns: "queue", ...more }), limits });

  it("runs one task at a time, in the order of the messages", async () => {
    const { engine, agent } = createQueueFixture();
    const answers = ["one", "two", "three"].map((text) => engine.sendMessage(send(text), alice));
    await flushEventLoopForTest();
    expect(agent.runs).toHaveLength(1);
    for (const at of [0, 1, 2]) {
      const { run } = await agent.waitForRun(at);
      expect(run.message.parts).toEqual([{ text: ["one", "two", "three"][at] }]);
      expect(agent.runs).toHaveLength(at + 1);
      agent.runs[at]?.emit(workingTestEvent).end();
      expect(getTestResponseTask(await answers[at]!).status.state).toBe("TASK_STATE_COMPLETED");
    }
  });

  it("creates a waiting task at once, as SUBMITTED", async () => {
    const { engine, agent } = createQueueFixture();
    const first = engine.sendMessage(send("one"), alice);
    await agent.waitForRun(0);
    const second = await engine.sendStreamingMessage(send("two"), alice);
    const [opened] = (await second.next()) ?? [];
    expect(opened && formatTaskEventForTest(opened.event)).toBe("task SUBMITTED");
    agent.runs[0]?.end();
    await first;
    (await agent.waitForRun(1)).end();
    expect(
      (await collectSubscriptionEventsForTest(second)).map(({ event }) => formatTaskEventForTest(event)),
    ).toEqual(["COMPLETED"]);
  });

  it("runs other contexts and other callers at the same time", async () => {
    const { engine, agent } = createQueueFixture();
    const answers = [
      engine.sendMessage(send("one"), alice),
      engine.sendMessage(send("two"), bob),
      engine.sendMessage(send("three", { contextId: "d" }), alice),
    ];
    for (const at of [0, 1, 2]) await agent.waitForRun(at);
    expect(agent.runs).toHaveLength(3);
    for (const run of agent.runs) run.end();
    await Promise.all(answers);
  });

  it("starts the next task when a task asks its user", async () => {
    const { engine, agent } = createQueueFixture();
    const first = engine.sendMessage(send("one"), alice);
    const second = engine.sendMessage(send("two"), alice);
    (await agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    const { id } = getTestResponseTask(await first);
    const answer = engine.sendMessage(send("Bonn", { taskId: id }), alice);
    const { run } = await agent.waitForRun(1);
    expect(run.message.parts).toEqual([{ text: "two" }]);
    await flushEventLoopForTest();
    expect(agent.runs).toHaveLength(2);
    agent.runs[1]?.end();
    await second;
    (await agent.waitForRun(2)).end();
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("cancels a waiting task without a run, and the task behind it still runs", async () => {
    const { engine, agent } = createQueueFixture();
    const first = engine.sendMessage(send("one"), alice);
    const configuration = { returnImmediately: true };
    const second = getTestResponseTask(await engine.sendMessage(send("two", { configuration }), alice));
    const third = engine.sendMessage(send("three"), alice);
    await flushEventLoopForTest();
    const canceled = await engine.cancelTask({ id: second.id }, alice);
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    expect(agent.runs).toHaveLength(1);
    agent.runs[0]?.end();
    await first;
    const { run } = await agent.waitForRun(1);
    expect(run.message.parts).toEqual([{ text: "three" }]);
    agent.runs[1]?.end();
    await third;
  });

  it("rejects a message when too many turns of the context wait", async () => {
    const { engine, agent } = createQueueFixture({}, { queuedTurns: 1 });
    const answers = ["one", "two"].map((text) => engine.sendMessage(send(text), alice));
    await flushEventLoopForTest();
    expect(await getRejectionA2AErrorReasonForTest(engine.sendMessage(send("three"), alice))).toBe(
      "RESOURCE_EXHAUSTED",
    );
    for (const at of [0, 1]) (await agent.waitForRun(at)).end();
    await Promise.all(answers);
  });

  it("also queues agents that answer without a task", async () => {
    const { engine, agent } = createQueueFixture({ respondsWith: "either" });
    const answers = ["one", "two"].map((text) => engine.sendMessage(send(text), alice));
    await flushEventLoopForTest();
    expect(agent.runs).toHaveLength(1);
    for (const at of [0, 1]) (await agent.waitForRun(at)).emit({ message: { parts: [{ text: "ok" }] } });
    for (const answer of answers) expect(await answer).toHaveProperty("message");
  });

  it("fails waiting tasks when the server closes", async () => {
    const { engine, agent } = createQueueFixture();
    const answers = ["one", "two"].map((text) => engine.sendMessage(send(text), alice));
    const { run } = await agent.waitForRun(0);
    run.signal.addEventListener("abort", () => agent.runs[0]?.end());
    await engine.close(1000);
    for (const answer of answers)
      expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_FAILED");
    expect(agent.runs).toHaveLength(1);
  });

  it("starts no waiting agent that answers without a task when the server closes", async () => {
    const { engine, agent, clock } = createQueueFixture({ respondsWith: "either" });
    const answers = ["one", "two"].map((text) =>
      getRejectionA2AErrorReasonForTest(engine.sendMessage(send(text), alice)),
    );
    await agent.waitForRun(0);
    await flushEventLoopForTest();
    const closed = engine.close(1000);
    await flushEventLoopForTest();
    expect(agent.runs).toHaveLength(1);
    clock.advance(1000);
    await closed;
    agent.runs[0]?.end();
    expect(await Promise.all(answers)).toEqual(["UNAVAILABLE", "UNAVAILABLE"]);
    expect(agent.runs).toHaveLength(1);
  });
});

describe("an agent that refuses concurrent turns of a context", () => {
  it("rejects a message while another task of the context runs, and accepts it afterwards", async () => {
    const { engine, agent } = createEngineFixture({
      agent: new ScriptedAgent({ concurrentTurns: "refuse" }),
    });
    const first = engine.sendMessage(send("one"), alice);
    await agent.waitForRun(0);
    await expect(engine.sendMessage(send("two"), alice)).rejects.toMatchObject({
      reason: "UNSUPPORTED_OPERATION",
      message: expect.stringContaining(agent.runs[0]?.run.taskId ?? "") as unknown,
    });
    const other = engine.sendMessage(send("three", { contextId: "d" }), alice);
    (await agent.waitForRun(1)).end();
    await other;
    agent.runs[0]?.end();
    await first;
    const again = engine.sendMessage(send("two"), alice);
    (await agent.waitForRun(2)).end();
    expect(getTestResponseTask(await again).status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("an agent by default", () => {
  it("runs the tasks of one context at the same time", async () => {
    const { engine, agent } = createEngineFixture();
    const answers = ["one", "two"].map((text) => engine.sendMessage(send(text), alice));
    for (const at of [0, 1]) await agent.waitForRun(at);
    expect(agent.runs).toHaveLength(2);
    for (const run of agent.runs) run.end();
    await Promise.all(answers);
  });
});
