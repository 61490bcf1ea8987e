import { expect, it } from "vitest";
import {
  alice,
  inputRequiredTestEvent,
  bob,
  completedTestEvent,
  createEngineFixture,
  createTestSendMessageRequest,
  getTestResponseTask,
  workingTestEvent,
} from "./engine.fixture.ts";
import type { TaskListQuery } from "./task-store.ts";
import type { AgentEvent } from "./agent.ts";

const authRequiredEvent: AgentEvent = { status: { state: "TASK_STATE_AUTH_REQUIRED" } };

it("a run lists the waiting tasks of its caller in its context, newest first [F-16, E13]", async () => {
  const { engine, agent, clock } = createEngineFixture();
  const ask = async (event: AgentEvent, contextId: string, caller = alice): Promise<string> => {
    clock.advance(1000);
    const answer = engine.sendMessage(createTestSendMessageRequest("first", { contextId }), caller);
    (await agent.waitForRun(agent.runs.length)).emit(event).end();
    return getTestResponseTask(await answer).id;
  };
  const first = await ask(inputRequiredTestEvent, "here");
  const second = await ask(authRequiredEvent, "here");
  await ask(completedTestEvent, "here");
  await ask(inputRequiredTestEvent, "elsewhere");
  await ask(inputRequiredTestEvent, "here", bob);

  void engine
    .sendMessage(createTestSendMessageRequest("go on", { contextId: "here" }), alice)
    .catch(() => {});
  const { run } = await agent.waitForRun(5);
  const tasks = await run.listInterruptedTasks();
  expect(tasks.map(({ id }) => id)).toEqual([second, first]);
  expect(tasks[1]?.status.message?.parts).toEqual([{ text: "which?" }]);

  // Changing a copy does not change the task.
  tasks[1]?.history?.splice(0);
  expect((await engine.getTask({ id: first }, alice)).history).toHaveLength(1);
});

it("a task that was just answered is not listed, nor is the run's own task [F-16]", async () => {
  const { engine, agent } = createEngineFixture();
  const answer = engine.sendMessage(createTestSendMessageRequest("first", { contextId: "here" }), alice);
  (await agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
  const { id } = getTestResponseTask(await answer);
  const configuration = { returnImmediately: true };
  const answering = engine.sendMessage(
    createTestSendMessageRequest("answer", { taskId: id, configuration }),
    alice,
  );
  const answered = (await agent.waitForRun(1)).emit(workingTestEvent);
  await answering;
  void engine
    .sendMessage(createTestSendMessageRequest("go on", { contextId: "here" }), alice)
    .catch(() => {});
  expect(await (await agent.waitForRun(2)).run.listInterruptedTasks()).toEqual([]);
  expect(await answered.run.listInterruptedTasks()).toEqual([]);
});

it("waiting tasks are loaded only on request, in a bounded number [E14]", async () => {
  const { engine, agent, store } = createEngineFixture();
  const queries: TaskListQuery[] = [];
  const list = store.list.bind(store);
  store.list = (scope, query) => {
    queries.push(query);
    return list(scope, query);
  };
  void engine.sendMessage(createTestSendMessageRequest("one", { contextId: "here" }), alice).catch(() => {});
  const { run } = await agent.waitForRun(0);
  expect(queries).toEqual([]);
  await run.listInterruptedTasks();
  expect(queries.map(({ contextId, limit }) => [contextId, limit])).toEqual([
    ["here", 50],
    ["here", 50],
  ]);
});
