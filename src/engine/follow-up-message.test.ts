import { describe, expect, it } from "vitest";
import { getText, type Task } from "../protocol/index.ts";
import {
  alice,
  inputRequiredTestEvent,
  createTestChunkEvent,
  collectSubscriptionEventsForTest,
  createEngineFixture,
  ScriptedAgent,
  createTestSendMessageRequest,
  flushEventLoopForTest,
  formatTaskEventForTest,
  workingTestEvent,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
} from "./engine.fixture.ts";

describe("a message to a task", () => {
  async function waiting(
    options: Parameters<typeof createEngineFixture>[0] = {},
  ): Promise<ReturnType<typeof createEngineFixture> & { task: Task }> {
    const set = createEngineFixture(options);
    const answer = set.engine.sendMessage(createTestSendMessageRequest("book"), alice);
    (await set.agent.waitForRun(0)).emit(workingTestEvent, inputRequiredTestEvent).end();
    return { ...set, task: getTestResponseTask(await answer) };
  }

  it("that waits for input is its next turn, with the entire conversation [F-02, F-06, F-15]", async () => {
    const { engine, agent, task } = await waiting();
    expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const answer = engine.sendMessage(createTestSendMessageRequest("Bonn", { taskId: task.id }), alice);
    const second = await agent.waitForRun(1);
    expect(second.run.task.history?.map(({ parts }) => getText(parts))).toEqual(["book", "which?", "Bonn"]);
    second.emit(workingTestEvent, createTestChunkEvent("booked", false)).end();
    const done = getTestResponseTask(await answer);
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(done.history?.map(({ parts }) => getText(parts))).toEqual(["book", "which?", "Bonn"]);
  });

  it("sets it to WORKING immediately, so no request sees INPUT_REQUIRED any more", async () => {
    const { engine, agent, task } = await waiting();
    const configuration = { returnImmediately: true };
    const answer = getTestResponseTask(
      await engine.sendMessage(
        createTestSendMessageRequest("Bonn", { taskId: task.id, configuration }),
        alice,
      ),
    );
    expect(answer.status.state).toBe("TASK_STATE_WORKING");
    expect((await engine.getTask({ id: task.id }, alice)).status.state).toBe("TASK_STATE_WORKING");
    (await agent.waitForRun(1)).end();
  });

  it("streams from the WORKING task, without the question that the message answers [G-01, F-52]", async () => {
    const { engine, agent, task } = await waiting();
    const opening = engine.sendStreamingMessage(
      createTestSendMessageRequest("Bonn", { taskId: task.id }),
      alice,
    );
    const second = await agent.waitForRun(1);
    second.emit(workingTestEvent, createTestChunkEvent("booked", false)).end();
    const seen = await collectSubscriptionEventsForTest(await opening);
    expect(seen.map(({ event }) => formatTaskEventForTest(event))).toEqual([
      "task WORKING",
      "booked",
      "COMPLETED",
    ]);
    expect(seen.map(({ seq }) => seq)).toEqual([5, 6, 7]);
    const [{ task: opened } = {}] = seen.map(({ event }) => event as { task?: Task });
    expect(opened?.status.message).toBeUndefined();
    expect(opened?.history?.map(({ parts }) => getText(parts))).toEqual(["book", "which?", "Bonn"]);
    const { status } = second.run.task;
    expect(status.state, "the agent sees which question the message answers").toBe(
      "TASK_STATE_INPUT_REQUIRED",
    );
  });

  it("streams without the artifacts of earlier turns, which other reads contain [F-52, F-50, F-30]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("book"), alice);
    (await agent.waitForRun(0)).emit(createTestChunkEvent("Asking.", false), inputRequiredTestEvent).end();
    const { id } = getTestResponseTask(await answer);
    const message = createTestSendMessageRequest("Bonn", { taskId: id });
    const opening = engine.sendStreamingMessage(message, alice);
    const second = await agent.waitForRun(1);
    second.emit(workingTestEvent, { artifact: { artifactId: "b", parts: [{ text: "booked" }] } });
    const listTexts = (task: Task | undefined): string[] | undefined =>
      task?.artifacts?.map(({ parts }) => getText(parts));
    const stream = await opening;
    const [first] = (await stream.next()) ?? [];
    expect(listTexts((first?.event as { task: Task } | undefined)?.task)).toBeUndefined();
    const repeated = await engine.sendStreamingMessage(message, alice);
    const [again] = (await repeated.next()) ?? [];
    expect(again?.event).toEqual(first?.event);
    repeated.close();
    await flushEventLoopForTest();
    const subscription = await engine.subscribeToTask({ id }, alice);
    const [snapshot] = (await subscription.next()) ?? [];
    subscription.close();
    expect(listTexts((snapshot?.event as { task: Task } | undefined)?.task)).toEqual(["Asking.", "booked"]);
    second.end();
    await collectSubscriptionEventsForTest(stream);
    expect(listTexts(await engine.getTask({ id }, alice))).toEqual(["Asking.", "booked"]);
  });

  it("that has ended is rejected by both operations [F-05]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).end();
    const { id } = getTestResponseTask(await answer);
    expect(
      await getRejectionA2AErrorReasonForTest(
        engine.sendMessage(createTestSendMessageRequest("more", { taskId: id }), alice),
      ),
    ).toBe("UNSUPPORTED_OPERATION");
    expect(
      await getRejectionA2AErrorReasonForTest(
        engine.sendStreamingMessage(createTestSendMessageRequest("more", { taskId: id }), alice),
      ),
    ).toBe("UNSUPPORTED_OPERATION");
  });

  it("that does not exist is rejected [F-04]", async () => {
    const { engine } = createEngineFixture();
    expect(
      await getRejectionA2AErrorReasonForTest(
        engine.sendMessage(createTestSendMessageRequest("hi", { taskId: "nope" }), alice),
      ),
    ).toBe("TASK_NOT_FOUND");
  });

  it("with another context is rejected with the name of the field [F-07]", async () => {
    const { engine, task } = await waiting();
    const wrong = engine.sendMessage(
      createTestSendMessageRequest("x", { taskId: task.id, contextId: "other" }),
      alice,
    );
    await expect(wrong).rejects.toMatchObject({
      reason: "INVALID_PARAMS",
      violations: [{ field: "message.contextId" }],
    });
  });

  it("that is running is rejected unless the agent queues; a task never has two runs at once [E11, F-15]", async () => {
    const { engine, agent } = createEngineFixture();
    const first = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    const id = run.run.taskId;
    expect(
      await getRejectionA2AErrorReasonForTest(
        engine.sendMessage(createTestSendMessageRequest("more", { taskId: id }), alice),
      ),
    ).toBe("UNSUPPORTED_OPERATION");
    run.end();
    await first;
    expect(agent.runs).toHaveLength(1);
  });

  it("that is running waits for its turn when the agent queues [E11]", async () => {
    const { engine, agent } = createEngineFixture({
      agent: new ScriptedAgent({ whileWorking: "queue" }),
    });
    const first = engine.sendMessage(createTestSendMessageRequest("one"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    const second = engine.sendMessage(createTestSendMessageRequest("two", { taskId: run.run.taskId }), alice);
    await flushEventLoopForTest();
    expect(agent.runs).toHaveLength(1);
    run.emit(inputRequiredTestEvent).end();
    expect(getTestResponseTask(await first).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    (await agent.waitForRun(1)).emit(workingTestEvent).end();
    expect(getTestResponseTask(await second).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("queued after a turn that ends the task is rejected, and the queue is bounded [E11, E14]", async () => {
    const { engine, agent } = createEngineFixture({
      agent: new ScriptedAgent({ whileWorking: "queue" }),
      limits: { queuedTurns: 2 },
    });
    const first = engine.sendMessage(createTestSendMessageRequest("one"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    const taskId = run.run.taskId;
    const queued = [1, 2].map(() =>
      getRejectionA2AErrorReasonForTest(
        engine.sendMessage(createTestSendMessageRequest("more", { taskId }), alice),
      ),
    );
    await flushEventLoopForTest();
    expect(
      await getRejectionA2AErrorReasonForTest(
        engine.sendMessage(createTestSendMessageRequest("too many", { taskId }), alice),
      ),
    ).toBe("RESOURCE_EXHAUSTED");
    run.end();
    await first;
    expect(await Promise.all(queued)).toEqual(["UNSUPPORTED_OPERATION", "UNSUPPORTED_OPERATION"]);
  });
});
