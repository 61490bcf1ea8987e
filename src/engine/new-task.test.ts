import { describe, expect, it } from "vitest";
import { getText } from "../protocol/index.ts";
import {
  alice,
  createTestChunkEvent,
  collectSubscriptionEventsForTest,
  createEngineFixture,
  ScriptedAgent,
  createTestSendMessageRequest,
  flushEventLoopForTest,
  formatTaskEventForTest,
  workingTestEvent,
  getTestResponseTask,
} from "./engine.fixture.ts";

describe("a message starts a task", () => {
  it("and the response contains the finished task [F-01, F-02, F-04, F-08]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0))
      .emit(workingTestEvent, createTestChunkEvent("Hel", false), createTestChunkEvent("lo"))
      .end();
    const task = getTestResponseTask(await answer);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getText(task.artifacts?.[0]?.parts ?? [])).toBe("Hello");
    expect(task.history?.[0]).toMatchObject({
      role: "ROLE_USER",
      taskId: task.id,
      contextId: task.contextId,
    });
    expect(await engine.getTask({ id: task.id }, alice)).toEqual(task);
  });

  it("and the response is immediate on request [F-03]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = await engine.sendMessage(
      createTestSendMessageRequest("hi", { configuration: { returnImmediately: true } }),
      alice,
    );
    expect(getTestResponseTask(answer).status.state).toBe("TASK_STATE_SUBMITTED");
    (await agent.waitForRun(0)).emit(workingTestEvent).end();
    await flushEventLoopForTest();
    expect((await engine.getTask({ id: getTestResponseTask(answer).id }, alice)).status.state).toBe(
      "TASK_STATE_COMPLETED",
    );
  });

  it("and the agent learns whether the request streams", async () => {
    const { engine, agent } = createEngineFixture();
    const blocking = engine.sendMessage(createTestSendMessageRequest("a"), alice);
    const immediate = createTestSendMessageRequest("b", { configuration: { returnImmediately: true } });
    void engine.sendMessage(immediate, alice);
    const streamed = engine.sendStreamingMessage(createTestSendMessageRequest("c"), alice);
    const runs = await Promise.all([0, 1, 2].map((at) => agent.waitForRun(at)));
    expect(runs.map(({ run }) => [getText(run.message.parts), run.isStreaming])).toEqual([
      ["a", false],
      ["b", false],
      ["c", true],
    ]);
    for (const run of runs) run.end();
    await Promise.all([blocking, streamed.then(collectSubscriptionEventsForTest)]);
  });

  it("whose mode a later reader of the same message does not change", async () => {
    const { engine, agent } = createEngineFixture();
    const request = createTestSendMessageRequest("hi");
    const blocking = engine.sendMessage(request, alice);
    const scripted = await agent.waitForRun(0);
    const repeated = await engine.sendStreamingMessage(request, alice);
    expect(scripted.run.isStreaming).toBe(false);
    expect(agent.runs).toHaveLength(1);
    scripted.end();
    await Promise.all([blocking, collectSubscriptionEventsForTest(repeated)]);
  });

  it("in the context that the request names [F-08]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi", { contextId: "ctx" }), alice);
    (await agent.waitForRun(0)).end();
    expect(getTestResponseTask(await answer).contextId).toBe("ctx");
  });

  it("with the requested amount of history in the response [F-14, F-31]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(
      createTestSendMessageRequest("hi", { configuration: { historyLength: 0 } }),
      alice,
    );
    (await agent.waitForRun(0)).end();
    const task = getTestResponseTask(await answer);
    expect(task).not.toHaveProperty("history");
    expect((await engine.getTask({ id: task.id, historyLength: 1 }, alice)).history).toHaveLength(1);
  });

  it("which fails when the agent throws, without revealing private details [F-18] [SEC-23]", async () => {
    const { engine, agent, errors } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).fail(new Error("password=hunter2"));
    const { status } = getTestResponseTask(await answer);
    expect(status.state).toBe("TASK_STATE_FAILED");
    expect(getText(status.message?.parts ?? [])).toMatch(/error id [0-9a-f]{8}/);
    expect(JSON.stringify(status)).not.toContain("hunter2");
    expect(String(errors[0])).toContain("hunter2");
  });

  it("which fails with a reason when the agent yields an invalid event [F-18]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).emit({ artifact: { artifactId: "a", parts: [] } });
    expect(getText(getTestResponseTask(await answer).status.message?.parts ?? [])).toContain(
      "artifact a has no parts",
    );
  });

  it("unless the agent replies without a task [F-01, G-01]", async () => {
    const { engine, agent } = createEngineFixture({
      agent: new ScriptedAgent({ respondsWith: "either" }),
    });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).emit({ message: { parts: [{ text: "ho" }] } });
    expect(await answer).toMatchObject({ message: { role: "ROLE_AGENT", parts: [{ text: "ho" }] } });
    const stream = engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(1)).emit({ message: { parts: [{ text: "ho" }] } });
    expect(
      (await collectSubscriptionEventsForTest(await stream)).map(({ event }) =>
        formatTaskEventForTest(event),
      ),
    ).toEqual(["message"]);
    expect((await engine.listTasks({}, alice)).totalSize).toBe(0);
    expect(agent.runs.every(({ isReturned: left }) => left)).toBe(true);
  });

  it("and a reply without a task completes the task when the request needs one", async () => {
    const { engine, agent } = createEngineFixture({
      agent: new ScriptedAgent({ respondsWith: "either" }),
    });
    const now = { ...createTestSendMessageRequest("hi"), configuration: { returnImmediately: true } };
    const { id } = getTestResponseTask(await engine.sendMessage(now, alice, { needsTask: true }));
    (await agent.waitForRun(0)).emit({ message: { parts: [{ text: "ho" }] } }).end();
    const stream = await engine.subscribeToTask({ id }, alice, { resumeAfterSeq: 0 });
    expect(
      (await collectSubscriptionEventsForTest(stream)).map(({ event }) => formatTaskEventForTest(event)),
    ).toEqual(["task SUBMITTED", "COMPLETED"]);
    const { status } = await engine.getTask({ id }, alice);
    expect(status.message).toMatchObject({ role: "ROLE_AGENT", parts: [{ text: "ho" }] });
  });
});
