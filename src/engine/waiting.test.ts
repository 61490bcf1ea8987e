import { expect, it } from "vitest";
import { alice, askForInput, bob, completed, house, request, taskOf, working } from "./engine.fixture.ts";
import type { ListQuery } from "./store.ts";
import type { AgentEvent } from "./agent.ts";

const askForAuth: AgentEvent = { status: { state: "TASK_STATE_AUTH_REQUIRED" } };

it("a run learns which other tasks of its caller wait in its context, the newest first [F-16, E13]", async () => {
  const { engine, puppet, clock } = house();
  const ask = async (event: AgentEvent, contextId: string, caller = alice): Promise<string> => {
    clock.advance(1000);
    const answer = engine.send(request("first", { contextId }), caller);
    (await puppet.run(puppet.runs.length)).say(event).end();
    return taskOf(await answer).id;
  };
  const first = await ask(askForInput, "here");
  const second = await ask(askForAuth, "here");
  await ask(completed, "here");
  await ask(askForInput, "elsewhere");
  await ask(askForInput, "here", bob);

  void engine.send(request("go on", { contextId: "here" }), alice).catch(() => {});
  const { run } = await puppet.run(5);
  const tasks = await run.waiting();
  expect(tasks.map(({ id }) => id)).toEqual([second, first]);
  expect(tasks[1]?.status.message?.parts).toEqual([{ text: "which?" }]);

  // What an agent does to its copies changes no task.
  tasks[1]?.history?.splice(0);
  expect((await engine.get({ id: first }, alice)).history).toHaveLength(1);
});

it("a task that has just been answered waits no more, and none waits for itself [F-16]", async () => {
  const { engine, puppet } = house();
  const answer = engine.send(request("first", { contextId: "here" }), alice);
  (await puppet.run(0)).say(askForInput).end();
  const { id } = taskOf(await answer);
  const configuration = { returnImmediately: true };
  const answering = engine.send(request("answer", { taskId: id, configuration }), alice);
  const answered = (await puppet.run(1)).say(working);
  await answering;
  void engine.send(request("go on", { contextId: "here" }), alice).catch(() => {});
  expect(await (await puppet.run(2)).run.waiting()).toEqual([]);
  expect(await answered.run.waiting()).toEqual([]);
});

it("nothing is looked up for a run that does not ask, and little for one that does [E14]", async () => {
  const { engine, puppet, store } = house();
  const asked: ListQuery[] = [];
  const list = store.list.bind(store);
  store.list = (scope, query) => {
    asked.push(query);
    return list(scope, query);
  };
  void engine.send(request("one", { contextId: "here" }), alice).catch(() => {});
  const { run } = await puppet.run(0);
  expect(asked).toEqual([]);
  await run.waiting();
  expect(asked.map(({ contextId, limit }) => [contextId, limit])).toEqual([
    ["here", 50],
    ["here", 50],
  ]);
});
