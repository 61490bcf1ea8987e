import { expect, it } from "vitest";
import {
  alice,
  collectSubscriptionEventsForTest,
  completedTestEvent,
  createEngineFixture,
  createTestSendMessageRequest,
  createTestTaskScopeForCaller,
  flushEventLoopForTest,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
  type EngineFixture,
  type ScriptedRun,
  workingTestEvent,
} from "./engine.fixture.ts";

const scope = createTestTaskScopeForCaller(alice);

async function startTask(): Promise<EngineFixture & { run: ScriptedRun; answer: Promise<unknown> }> {
  const fixture = createEngineFixture();
  const answer = fixture.engine.sendMessage(createTestSendMessageRequest("hi"), alice);
  const run = await fixture.agent.waitForRun(0);
  run.emit(workingTestEvent);
  await flushEventLoopForTest();
  return { ...fixture, run, answer };
}

it("the erasure of a running task waits until the task is canceled", async () => {
  const { engine, run, answer } = await startTask();
  let hasEnded = false;
  const ending = engine.endTaskForErasure(scope, run.run.taskId).then(() => (hasEnded = true));
  await flushEventLoopForTest();
  expect(run.run.signal.reason).toMatchObject({ message: "The task was erased." });
  expect(hasEnded).toBe(false);
  run.end();
  await ending;
  expect(getTestResponseTask((await answer) as object).status.state).toBe("TASK_STATE_CANCELED");
});

it("the erasure of a task that has ended does not change the task", async () => {
  const { engine, run, answer } = await startTask();
  run.emit(completedTestEvent).end();
  const task = getTestResponseTask((await answer) as object);
  await engine.endTaskForErasure(scope, task.id);
  expect(await engine.getTask({ id: task.id }, alice)).toEqual(task);
});

it("the erasure of an unknown task changes nothing", async () => {
  const { engine } = createEngineFixture();
  await engine.endTaskForErasure(scope, "unknown");
  expect(() => engine.forgetErasedTask(scope, "unknown")).not.toThrow();
});

it("an erased task ends its subscriptions with TASK_NOT_FOUND", async () => {
  const { engine, run } = await startTask();
  const subscription = await engine.subscribeToTask({ id: run.run.taskId }, alice);
  const reason = getRejectionA2AErrorReasonForTest(collectSubscriptionEventsForTest(subscription));
  await flushEventLoopForTest();
  engine.forgetErasedTask(scope, run.run.taskId);
  expect(await reason).toBe("TASK_NOT_FOUND");
});

it("a task is in use while its agent works, and while a request loads the task", async () => {
  const { engine, run, answer } = await startTask();
  const { taskId } = run.run;
  expect(engine.isTaskInUse(scope, taskId)).toBe(true);
  run.emit(completedTestEvent).end();
  await answer;
  await flushEventLoopForTest();
  expect(engine.isTaskInUse(scope, taskId)).toBe(false);
  const subscribing = engine.subscribeToTask({ id: taskId }, alice);
  expect(engine.isTaskInUse(scope, taskId)).toBe(true);
  (await subscribing.catch(() => undefined))?.close();
  await flushEventLoopForTest();
  expect(engine.isTaskInUse(scope, taskId)).toBe(false);
});
