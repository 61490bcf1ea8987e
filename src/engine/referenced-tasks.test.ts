import { expect, it } from "vitest";
import {
  alice,
  bob,
  completedTestEvent,
  createEngineFixture,
  createTestSendMessageRequest,
  getTestResponseTask,
  workingTestEvent,
} from "./engine.fixture.ts";
import { restoreCaller, toQueuedTurnData, toTurnRestartData } from "./turn-restart-data.ts";
import { Turn } from "./turn.ts";

it("a run reads the referenced tasks of its caller only [F-16, E13]", async () => {
  const { engine, agent } = createEngineFixture();
  const ask = async (text: string, caller: typeof alice): Promise<string> => {
    const answer = engine.sendMessage(createTestSendMessageRequest(text), caller);
    (await agent.waitForRun(agent.runs.length)).emit(completedTestEvent).end();
    return getTestResponseTask(await answer).id;
  };
  const first = await ask("first", alice);
  const theirs = await ask("theirs", bob);
  const underWay = engine.sendMessage(
    createTestSendMessageRequest("under way", { configuration: { returnImmediately: true } }),
    alice,
  );
  (await agent.waitForRun(2)).emit(workingTestEvent);
  const live = getTestResponseTask(await underWay).id;

  const referenceTaskIds = [live, "no-such-task", theirs, first, live];
  void engine.sendMessage(createTestSendMessageRequest("go on", { referenceTaskIds }), alice).catch(() => {});
  const { run } = await agent.waitForRun(3);
  const tasks = await run.loadReferencedTasks();
  expect(tasks.map(({ id }) => id)).toEqual([live, first]);
  expect(tasks[1]?.status.state).toBe("TASK_STATE_COMPLETED");

  // Changing a copy does not change the task.
  tasks[1]?.history?.splice(0);
  expect((await engine.getTask({ id: first }, alice)).history).toHaveLength(1);
});

it("a run reads a bounded number of referenced tasks [F-16, E14]", async () => {
  const { engine, agent } = createEngineFixture();
  const answer = engine.sendMessage(createTestSendMessageRequest("one"), alice);
  (await agent.waitForRun(0)).emit(completedTestEvent).end();
  const { id } = getTestResponseTask(await answer);
  const unknown = Array.from({ length: 50 }, (_, at) => `unknown-${at}`);
  void engine
    .sendMessage(createTestSendMessageRequest("many", { referenceTaskIds: [...unknown, id] }), alice)
    .catch(() => {});
  expect(await (await agent.waitForRun(1)).run.loadReferencedTasks()).toEqual([]);
});

it("a run without referenced tasks reads none [F-16]", async () => {
  const { engine, agent } = createEngineFixture();
  void engine.sendMessage(createTestSendMessageRequest("alone"), alice).catch(() => {});
  expect(await (await agent.waitForRun(0)).run.loadReferencedTasks()).toEqual([]);
});

it("a run of a later attempt reads no more referenced tasks than the first attempt", () => {
  const { message } = createTestSendMessageRequest("hi");
  const caller = { ...alice, contextScope: { contextIds: ["red"], namespace: "tab-1" } };
  const turn = new Turn(
    {} as never,
    { request: { message }, caller, serviceParameters: { version: "1.0" } },
    message,
  );
  expect(restoreCaller(alice, toTurnRestartData(turn))).toStrictEqual(caller);
  expect(restoreCaller(alice, toQueuedTurnData(turn, 1))).toStrictEqual(caller);
});
