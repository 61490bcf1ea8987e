import { expect, it } from "vitest";
import {
  alice,
  bob,
  completedEvent,
  createEngineFixture,
  createSendMessageRequest,
  getResponseTask,
  workingEvent,
} from "./engine.fixture.ts";

it("a run reads the referenced tasks of its caller only [F-16, E13]", async () => {
  const { engine, agent } = createEngineFixture();
  const ask = async (text: string, caller: typeof alice): Promise<string> => {
    const answer = engine.sendMessage(createSendMessageRequest(text), caller);
    (await agent.waitForRun(agent.runs.length)).emit(completedEvent).end();
    return getResponseTask(await answer).id;
  };
  const first = await ask("first", alice);
  const theirs = await ask("theirs", bob);
  const underWay = engine.sendMessage(
    createSendMessageRequest("under way", { configuration: { returnImmediately: true } }),
    alice,
  );
  (await agent.waitForRun(2)).emit(workingEvent);
  const live = getResponseTask(await underWay).id;

  const referenceTaskIds = [live, "no-such-task", theirs, first, live];
  void engine.sendMessage(createSendMessageRequest("go on", { referenceTaskIds }), alice).catch(() => {});
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
  const answer = engine.sendMessage(createSendMessageRequest("one"), alice);
  (await agent.waitForRun(0)).emit(completedEvent).end();
  const { id } = getResponseTask(await answer);
  const unknown = Array.from({ length: 50 }, (_, at) => `unknown-${at}`);
  void engine
    .sendMessage(createSendMessageRequest("many", { referenceTaskIds: [...unknown, id] }), alice)
    .catch(() => {});
  expect(await (await agent.waitForRun(1)).run.loadReferencedTasks()).toEqual([]);
});

it("a run without referenced tasks reads none [F-16]", async () => {
  const { engine, agent } = createEngineFixture();
  void engine.sendMessage(createSendMessageRequest("alone"), alice).catch(() => {});
  expect(await (await agent.waitForRun(0)).run.loadReferencedTasks()).toEqual([]);
});
