import { describe, expect, it } from "vitest";
import { Deferred } from "../data-structures/index.ts";
import { A2AError, getText, type Task } from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import {
  alice,
  inputRequiredTestEvent,
  bob,
  createTestChunkEvent,
  completedTestEvent,
  collectSubscriptionEventsForTest,
  FakeClock,
  createEngineFixture,
  createProcessFixture,
  ScriptedAgent,
  createTestSendMessageRequest,
  createTestTaskScopeForCaller,
  flushEventLoopForTest,
  formatTaskEventForTest,
  workingTestEvent,
  getRejectionA2AErrorReasonForTest,
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

describe("cancel", () => {
  it("reaches the agent as an abort, and CANCELED stays [E8, F-40, F-42, F-43]", async () => {
    const { engine, agent, clock } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    run.run.signal.addEventListener("abort", () => run.end());
    const canceled = await engine.cancelTask({ id: run.run.taskId }, alice);
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_CANCELED");
    expect(await engine.cancelTask({ id: run.run.taskId }, alice)).toEqual(canceled);
    expect(clock.pendingTimerCount).toBe(0);
  });

  it("fences off an agent that ignores the signal, after the grace period [E8, E7]", async () => {
    const { engine, agent, clock } = createEngineFixture({ cancelGraceMs: 1000 });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent, createTestChunkEvent("before", false));
    await flushEventLoopForTest();
    const canceling = engine.cancelTask({ id: run.run.taskId }, alice);
    await flushEventLoopForTest();
    expect(run.run.signal.aborted).toBe(true);
    clock.advance(999);
    await flushEventLoopForTest();
    expect((await engine.getTask({ id: run.run.taskId }, alice)).status.state).toBe("TASK_STATE_WORKING");
    clock.advance(1);
    const canceled = await canceling;
    run.emit(createTestChunkEvent("after"), completedTestEvent).end();
    await flushEventLoopForTest();
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    expect(await engine.getTask({ id: run.run.taskId }, alice)).toEqual(canceled);
    expect(getText(canceled.artifacts?.[0]?.parts ?? [])).toBe("before");
    expect(getTestResponseTask(await answer)).toEqual(canceled);
    expect(run.isReturned).toBe(true);
  });

  it("lets the agent end otherwise in time [F-43]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    run.run.signal.addEventListener("abort", () => run.emit(completedTestEvent).end());
    expect((await engine.cancelTask({ id: run.run.taskId }, alice)).status.state).toBe(
      "TASK_STATE_COMPLETED",
    );
    await answer;
  });

  it("cancels a task that waits for input and notifies its readers [F-43]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    const { id } = getTestResponseTask(await answer);
    const reader = collectSubscriptionEventsForTest(await engine.subscribeToTask({ id }, alice));
    expect((await engine.cancelTask({ id }, alice)).status.state).toBe("TASK_STATE_CANCELED");
    expect((await reader).map(({ event }) => formatTaskEventForTest(event))).toEqual([
      "task INPUT_REQUIRED",
      "CANCELED",
    ]);
  });

  it("passes the waiting task and its caller to the agent and ignores the agent's errors", async () => {
    const cancellations: unknown[] = [];
    class CancelRecordingAgent extends ScriptedAgent {
      async onTaskCanceled({ status }: Task, caller: object): Promise<void> {
        cancellations.push([status.state, caller]);
        throw new Error("cannot be helped");
      }
    }
    const { engine, agent, errors } = createEngineFixture({ agent: new CancelRecordingAgent() });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    const { id } = getTestResponseTask(await answer);
    expect((await engine.cancelTask({ id }, alice)).status.state).toBe("TASK_STATE_CANCELED");
    await engine.cancelTask({ id }, alice);
    expect(cancellations).toEqual([["TASK_STATE_INPUT_REQUIRED", alice]]);
    expect(errors).toEqual([new Error("cannot be helped")]);
  });

  it("is rejected for a finished or missing task [F-41]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).end();
    expect(
      await getRejectionA2AErrorReasonForTest(
        engine.cancelTask({ id: getTestResponseTask(await answer).id }, alice),
      ),
    ).toBe("TASK_NOT_CANCELABLE");
    expect(await getRejectionA2AErrorReasonForTest(engine.cancelTask({ id: "nope" }, alice))).toBe(
      "TASK_NOT_FOUND",
    );
  });
});

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
    const next = stream.next().then((events) => {
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

describe("ownership", () => {
  it("treats another caller's task as missing in every operation [E13, M-02, M-03, M-04, F-30]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    const { id } = getTestResponseTask(await answer);
    const strangers = [bob, { tenant: "other", principal: "alice" }];
    const getOutcome = async (promise: Promise<unknown>): Promise<string> =>
      promise.then(
        () => "something",
        (error: A2AError) => `${error.reason} ${error.message}`,
      );
    for (const stranger of strangers) {
      for (const task of [id, "00000000-0000-4000-8000-000000000000"]) {
        const expected = `TASK_NOT_FOUND ${A2AError.taskNotFound(task).message}`;
        expect(await getOutcome(engine.getTask({ id: task }, stranger))).toBe(expected);
        expect(await getOutcome(engine.cancelTask({ id: task }, stranger))).toBe(expected);
        expect(await getOutcome(engine.subscribeToTask({ id: task }, stranger))).toBe(expected);
        expect(await getOutcome(engine.subscribeToTask({ id: task }, stranger, { resumeAfterSeq: 1 }))).toBe(
          expected,
        );
        expect(
          await getOutcome(engine.sendMessage(createTestSendMessageRequest("x", { taskId: task }), stranger)),
        ).toBe(expected);
        expect(
          await getOutcome(
            engine.sendStreamingMessage(createTestSendMessageRequest("x", { taskId: task }), stranger),
          ),
        ).toBe(expected);
      }
      expect(await engine.listTasks({}, stranger)).toMatchObject({ tasks: [], totalSize: 0 });
    }
    expect((await engine.listTasks({}, alice)).totalSize).toBe(1);
  });

  it("keeps contexts of the same name apart [E13, M-04]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi", { contextId: "shared" }), alice);
    (await agent.waitForRun(0)).end();
    await answer;
    expect((await engine.listTasks({ contextId: "shared" }, bob)).totalSize).toBe(0);
  });
});

describe("limits [E14]", () => {
  it("reject an excess run, in total and per caller, and accept it later", async () => {
    const { engine, agent } = createEngineFixture({ limits: { runs: 3, runsPerCaller: 2 } });
    const running = [1, 2].map(() => engine.sendMessage(createTestSendMessageRequest("hi"), alice));
    await flushEventLoopForTest();
    expect(
      await getRejectionA2AErrorReasonForTest(engine.sendMessage(createTestSendMessageRequest("hi"), alice)),
    ).toBe("RESOURCE_EXHAUSTED");
    running.push(engine.sendMessage(createTestSendMessageRequest("hi"), bob));
    await flushEventLoopForTest();
    const refused = engine.sendMessage(createTestSendMessageRequest("hi"), {
      tenant: "",
      principal: "carol",
    });
    await expect(refused).rejects.toMatchObject({ reason: "RESOURCE_EXHAUSTED", retryAfter: 1 });
    for (const run of agent.runs) run.end();
    await Promise.all(running);
    const again = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(3)).end();
    expect(getTestResponseTask(await again).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("reject an excess stream and release its slot", async () => {
    const { engine, agent } = createEngineFixture({ limits: { streams: 1 } });
    const stream = await engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const { taskId } = (await agent.waitForRun(0)).run;
    expect(await getRejectionA2AErrorReasonForTest(engine.subscribeToTask({ id: taskId }, alice))).toBe(
      "RESOURCE_EXHAUSTED",
    );
    stream.close();
    (await engine.subscribeToTask({ id: taskId }, alice)).close();
    await expect(engine.subscribeToTask({ id: "nope" }, alice)).rejects.toThrow();
    (await engine.subscribeToTask({ id: taskId }, alice)).close();
  });

  it("pause the agent while the store is behind [E6]", async () => {
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    const gate = Promise.withResolvers<void>();
    store.commit = async (batch) => {
      await gate.promise;
      return commit(batch);
    };
    const { engine, agent } = createEngineFixture({ store, mergeChunks: false });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    for (let at = 0; at < 2000; at++) run.emit(createTestChunkEvent("x", at > 0));
    run.end();
    await flushEventLoopForTest();
    expect(run.pulledCount).toBeLessThan(600);
    gate.resolve();
    expect(getText(getTestResponseTask(await answer).artifacts?.[0]?.parts ?? [])).toHaveLength(2000);
  });
});

describe("commits", () => {
  /** A memory store with slow commits. */
  function slowStore(clock: FakeClock, ms: number): { store: MemoryStore; commits: number[] } {
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    const commits: number[] = [];
    store.commit = (batch) => {
      clock.time += ms;
      commits.push(batch.reduce((sum, { events }) => sum + events.length, 0));
      return commit(batch);
    };
    return { store, commits };
  }

  it("of chunks are delayed as long as commits usually take, to limit the load on the disk [E6]", async () => {
    const clock = new FakeClock();
    const { store, commits } = slowStore(clock, 10);
    const { engine, agent } = createEngineFixture({ store, clock });
    const stream = await engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    await flushEventLoopForTest();
    for (const text of ["a", "b", "c"]) {
      run.emit(createTestChunkEvent(text));
      await flushEventLoopForTest();
    }
    expect(commits).toEqual([1]);
    clock.advance(10);
    await flushEventLoopForTest();
    expect(commits).toEqual([1, 1]);
    run.emit(createTestChunkEvent("d")).end();
    expect(
      (await collectSubscriptionEventsForTest(stream)).map(({ event }) => formatTaskEventForTest(event)),
    ).toEqual(["task SUBMITTED", "abc", "d", "COMPLETED"]);
  });

  it("of chunks are hardly delayed after a single slow commit [E6]", async () => {
    const clock = new FakeClock();
    const { store, commits } = slowStore(clock, 2);
    const { engine, agent } = createEngineFixture({ store, clock, mergeChunks: false });
    void engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    const emitChunk = async (): Promise<number> => {
      run.emit(createTestChunkEvent("x"));
      await flushEventLoopForTest();
      return commits.length;
    };
    for (let chunk = 0; chunk < 6; chunk++) {
      clock.advance(2);
      await emitChunk();
    }
    const commit = store.commit.bind(store);
    store.commit = (batch) => {
      clock.time += 500;
      return commit(batch);
    };
    clock.advance(2);
    const slow = await emitChunk();
    store.commit = commit;
    expect(await emitChunk()).toBe(slow);
    clock.advance(2);
    await flushEventLoopForTest();
    expect(commits).toHaveLength(slow + 1);
  });

  it("of urgent events are not delayed [E6]", async () => {
    const clock = new FakeClock();
    const { store, commits } = slowStore(clock, 10);
    const { engine, agent } = createEngineFixture({ store, clock });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    await flushEventLoopForTest();
    run.emit(createTestChunkEvent("a"));
    await flushEventLoopForTest();
    run.emit(workingTestEvent).end();
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_COMPLETED");
    expect(commits.reduce((sum, events) => sum + events)).toBe(4);
  });
});

describe("a store", () => {
  it("learns whether agents are running, so that it does not block them", async () => {
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    const commits: unknown[] = [];
    store.commit = (batch, about?: object) => {
      commits.push([batch.length, about]);
      return commit(batch);
    };
    const { engine, agent } = createEngineFixture({ store });
    const answers = ["a", "b"].map((text) => engine.sendMessage(createTestSendMessageRequest(text), alice));
    await agent.waitForRun(1);
    await flushEventLoopForTest();
    for (const run of agent.runs) {
      run.end();
      await flushEventLoopForTest();
    }
    await Promise.all(answers);
    expect(commits).toEqual([
      [2, { agentsAtWork: true }],
      [1, { agentsAtWork: true }],
      [1, { agentsAtWork: false }],
    ]);
  });
});

describe("time [E16]", () => {
  it("never decreases within a task, and is UTC with milliseconds [G-09]", async () => {
    const { engine, agent, clock } = createEngineFixture();
    const stream = engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    clock.advance(5000);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    clock.time -= 60_000;
    run.emit({ status: { state: "TASK_STATE_WORKING", message: { parts: [{ text: "on it" }] } } }).end();
    const times = (await collectSubscriptionEventsForTest(await stream)).map(({ event }) =>
      "task" in event
        ? event.task.status.timestamp
        : "statusUpdate" in event
          ? event.statusUpdate.status.timestamp
          : "",
    );
    expect(times).toEqual(["2026-01-01T00:00:00.000Z", ...Array(3).fill("2026-01-01T00:00:05.000Z")]);
  });
});

describe("an engine that opens the store of an earlier one", () => {
  it("fails orphaned tasks with a reason and keeps tasks that wait for input [E9]", async () => {
    const store = new MemoryStore();
    const before = createEngineFixture({ store });
    void before.engine.sendMessage(createTestSendMessageRequest("hi"), alice).catch(() => {});
    const run = await before.agent.waitForRun(0);
    run.emit(workingTestEvent, createTestChunkEvent("half", false));
    const waiting = before.engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await before.agent.waitForRun(1)).emit(inputRequiredTestEvent).end();
    const { id } = getTestResponseTask(await waiting);
    await flushEventLoopForTest();
    const { engine } = createProcessFixture({ store });
    await engine.open();
    const orphan = await engine.getTask({ id: run.run.taskId }, alice);
    expect(orphan.status.state).toBe("TASK_STATE_FAILED");
    expect(getText(orphan.status.message?.parts ?? [])).toContain(
      "The server stopped while the agent was running",
    );
    expect(getText(orphan.artifacts?.[0]?.parts ?? [])).toBe("half");
    expect((await engine.getTask({ id }, alice)).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    // Events of the earlier writer are rejected from now on, and its waiting requests fail.
    const late = before.engine.subscribeToTask({ id: run.run.taskId }, alice);
    run.emit(createTestChunkEvent("late"));
    await expect(collectSubscriptionEventsForTest(await late)).rejects.toMatchObject({
      reason: "UNAVAILABLE",
    });
    expect(await store.load(createTestTaskScopeForCaller(alice), run.run.taskId)).toMatchObject({
      task: orphan,
    });
  });
});

describe("a store that fails", () => {
  it("is retried, and no event is lost when it recovers [E1]", async () => {
    const store = new MemoryStore();
    const clock = new FakeClock();
    const commit = store.commit.bind(store);
    let failures = 3;
    store.commit = (batch) => (failures-- > 0 ? Promise.reject(new Error("disk full")) : commit(batch));
    const { engine, agent } = createEngineFixture({ store, clock });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).emit(createTestChunkEvent("x", false)).end();
    for (let at = 0; at < 10; at++) {
      await flushEventLoopForTest(5);
      clock.advance(5000);
    }
    expect(getText(getTestResponseTask(await answer).artifacts?.[0]?.parts ?? [])).toBe("x");
  });

  it("permanently ends the run and rejects all waiting requests", async () => {
    const store = new MemoryStore();
    const clock = new FakeClock();
    const commit = store.commit.bind(store);
    let broken = false;
    store.commit = (batch) => (broken ? Promise.reject(new Error("disk full")) : commit(batch));
    const { engine, agent, errors } = createEngineFixture({ store, clock });
    const stream = await engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const reader = collectSubscriptionEventsForTest(stream);
    const run = await agent.waitForRun(0);
    await flushEventLoopForTest();
    broken = true;
    run.emit(workingTestEvent);
    const outcome = getRejectionA2AErrorReasonForTest(reader);
    for (let at = 0; at < 10; at++) {
      await flushEventLoopForTest(5);
      clock.advance(5000);
    }
    expect(await outcome).toBe("UNAVAILABLE");
    expect(run.run.signal.aborted).toBe(true);
    expect(errors).toHaveLength(1);
    // A failure of one task does not affect another.
    broken = false;
    const next = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(1)).end();
    expect(getTestResponseTask(await next).status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("close", () => {
  it("ends running tasks with a reason and rejects new messages", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    run.run.signal.addEventListener("abort", () => run.end());
    await engine.close(1000);
    const { status } = getTestResponseTask(await answer);
    expect(status.state).toBe("TASK_STATE_FAILED");
    expect(getText(status.message?.parts ?? [])).toContain("server was stopped");
    expect(
      await getRejectionA2AErrorReasonForTest(engine.sendMessage(createTestSendMessageRequest("hi"), alice)),
    ).toBe("UNAVAILABLE");
  });

  it("rejects messages that wait for the store when the server closes, and starts no agent for them", async () => {
    const lookup = new Deferred();
    class SlowLookupStore extends MemoryStore {
      override async findMessage(
        ...args: Parameters<MemoryStore["findMessage"]>
      ): ReturnType<MemoryStore["findMessage"]> {
        await lookup.promise;
        return await super.findMessage(...args);
      }
    }
    const { engine, agent } = createEngineFixture({ store: new SlowLookupStore() });
    const answer = getRejectionA2AErrorReasonForTest(
      engine.sendMessage(
        createTestSendMessageRequest("hi", { configuration: { returnImmediately: true } }),
        alice,
      ),
    );
    await engine.close(1000);
    lookup.resolve();
    expect(await answer).toBe("UNAVAILABLE");
    expect(agent.runs).toEqual([]);
  });
});
