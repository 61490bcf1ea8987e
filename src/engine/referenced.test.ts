import { expect, it } from "vitest";
import { alice, bob, completed, house, request, taskOf, working } from "./engine.fixture.ts";

it("a run reads the tasks that its message refers to, and nobody else's [F-16, E13]", async () => {
  const { engine, puppet } = house();
  const ask = async (text: string, caller: typeof alice): Promise<string> => {
    const answer = engine.send(request(text), caller);
    (await puppet.run(puppet.runs.length)).say(completed).end();
    return taskOf(await answer).id;
  };
  const first = await ask("first", alice);
  const theirs = await ask("theirs", bob);
  const underWay = engine.send(request("under way", { configuration: { returnImmediately: true } }), alice);
  (await puppet.run(2)).say(working);
  const live = taskOf(await underWay).id;

  const referenceTaskIds = [live, "no-such-task", theirs, first, live];
  void engine.send(request("go on", { referenceTaskIds }), alice).catch(() => {});
  const { run } = await puppet.run(3);
  const tasks = await run.referenced();
  expect(tasks.map(({ id }) => id)).toEqual([live, first]);
  expect(tasks[1]?.status.state).toBe("TASK_STATE_COMPLETED");

  // What an agent does to its copies changes no task.
  tasks[1]?.history?.splice(0);
  expect((await engine.get({ id: first }, alice)).history).toHaveLength(1);
});

it("a run reads a bounded number of them [F-16, E14]", async () => {
  const { engine, puppet } = house();
  const answer = engine.send(request("one"), alice);
  (await puppet.run(0)).say(completed).end();
  const { id } = taskOf(await answer);
  const unknown = Array.from({ length: 50 }, (_, at) => `unknown-${at}`);
  void engine.send(request("many", { referenceTaskIds: [...unknown, id] }), alice).catch(() => {});
  expect(await (await puppet.run(1)).run.referenced()).toEqual([]);
});

it("a run whose message refers to nothing reads nothing [F-16]", async () => {
  const { engine, puppet } = house();
  void engine.send(request("alone"), alice).catch(() => {});
  expect(await (await puppet.run(0)).run.referenced()).toEqual([]);
});
