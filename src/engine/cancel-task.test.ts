import { describe, expect, it } from "vitest";
import { getText, type Task } from "../protocol/index.ts";
import {
  alice,
  inputRequiredTestEvent,
  createTestChunkEvent,
  completedTestEvent,
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

  it("reports the errors of abort listeners, also after the turn, and calls no removed listener [E7]", async () => {
    const errors: string[] = [];
    const onError = ({ error }: { error: unknown }): number => errors.push((error as Error).message);
    const { engine, agent } = createEngineFixture({ observer: { onError } });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    const { signal, taskId } = run.run;
    const { promise: failure, reject: failLater } = Promise.withResolvers<void>();
    const removed = (): number => errors.push("removed");
    signal.addEventListener("abort", removed);
    signal.addEventListener("abort", () => {
      throw new Error("at once");
    });
    const failsLater = (): unknown => failure;
    signal.addEventListener("abort", failsLater);
    signal.addEventListener("abort", () => run.end());
    signal.removeEventListener("abort", removed);
    await engine.cancelTask({ id: taskId }, alice);
    await answer;
    failLater(new Error("later"));
    signal.removeEventListener("abort", removed);
    signal.addEventListener("abort", removed);
    await flushEventLoopForTest();
    expect(errors).toEqual(["at once", "later"]);
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
