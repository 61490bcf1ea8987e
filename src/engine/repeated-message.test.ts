import { describe, expect, it } from "vitest";
import {
  alice,
  bob,
  createTestChunkEvent,
  collectSubscriptionEventsForTest,
  createEngineFixture,
  createTestSendMessageRequest,
  flushEventLoopForTest,
  inputRequiredTestEvent,
  workingTestEvent,
  getTestResponseTask,
} from "./engine.fixture.ts";

describe("the same message sent twice [E10]", () => {
  it("is one task, while it runs and afterwards", async () => {
    const { engine, agent } = createEngineFixture();
    const again = createTestSendMessageRequest("hi");
    const answers = [engine.sendMessage(again, alice), engine.sendMessage(again, alice)];
    (await agent.waitForRun(0)).emit(createTestChunkEvent("x", false)).end();
    const [first, second] = (await Promise.all(answers)).map(getTestResponseTask);
    expect(second?.id).toBe(first?.id);
    expect(getTestResponseTask(await engine.sendMessage(structuredClone(again), alice)).id).toBe(first?.id);
    expect(agent.runs).toHaveLength(1);
  });

  it("streams the same events again, and from where the caller stopped", async () => {
    const { engine, agent } = createEngineFixture();
    const again = createTestSendMessageRequest("hi");
    const first = engine.sendStreamingMessage(again, alice);
    (await agent.waitForRun(0)).emit(workingTestEvent, createTestChunkEvent("x", false)).end();
    const seen = await collectSubscriptionEventsForTest(await first);
    expect(await collectSubscriptionEventsForTest(await engine.sendStreamingMessage(again, alice))).toEqual(
      seen,
    );
    expect(
      await collectSubscriptionEventsForTest(
        await engine.sendStreamingMessage(again, alice, { resumeAfterSeq: 2 }),
      ),
    ).toEqual(seen.slice(2));
    expect(
      await collectSubscriptionEventsForTest(
        await engine.sendStreamingMessage(again, alice, { resumeAfterSeq: seen.length }),
      ),
    ).toEqual([]);
  });

  it("with different content is an error that names the field", async () => {
    const { engine, agent } = createEngineFixture();
    const first = engine.sendMessage(createTestSendMessageRequest("hi", { messageId: "same" }), alice);
    const during = engine.sendMessage(createTestSendMessageRequest("ho", { messageId: "same" }), alice);
    await expect(during).rejects.toMatchObject({ violations: [{ field: "message.messageId" }] });
    (await agent.waitForRun(0)).end();
    await first;
    const after = engine.sendMessage(createTestSendMessageRequest("ho", { messageId: "same" }), alice);
    await expect(after).rejects.toMatchObject({ violations: [{ field: "message.messageId" }] });
  });

  it("waits for the running turn of its task, if its own turn has stopped", async () => {
    const { engine, agent } = createEngineFixture();
    const request = createTestSendMessageRequest("hi");
    const first = engine.sendMessage(request, alice);
    (await agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    const { id: taskId } = getTestResponseTask(await first);
    const next = engine.sendMessage(createTestSendMessageRequest("blue", { taskId }), alice);
    const run = await agent.waitForRun(1);
    await flushEventLoopForTest();
    const again = engine.sendMessage(request, alice);
    const atOnce = { ...request, configuration: { returnImmediately: true } };
    expect(getTestResponseTask(await engine.sendMessage(atOnce, alice)).status.state).toBe(
      "TASK_STATE_WORKING",
    );
    run.emit(createTestChunkEvent("x", false)).end();
    expect(getTestResponseTask(await again)).toEqual(getTestResponseTask(await next));
    expect(getTestResponseTask(await again).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("is two tasks without deduplication", async () => {
    const { engine, agent } = createEngineFixture({ deduplicateMessages: false });
    const again = createTestSendMessageRequest("hi");
    const answers = [engine.sendMessage(again, alice), engine.sendMessage(again, alice)];
    for (const at of [0, 1]) (await agent.waitForRun(at)).end();
    const [one, other] = (await Promise.all(answers)).map(getTestResponseTask);
    expect(one?.id).not.toBe(other?.id);
  });

  it("from another caller is another task", async () => {
    const { engine, agent } = createEngineFixture();
    const again = createTestSendMessageRequest("hi");
    const answers = [engine.sendMessage(again, alice), engine.sendMessage(again, bob)];
    for (const at of [0, 1]) (await agent.waitForRun(at)).end();
    const [one, other] = (await Promise.all(answers)).map(getTestResponseTask);
    expect(one?.id).not.toBe(other?.id);
  });
});
