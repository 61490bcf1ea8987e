import { describe, expect, it } from "vitest";
import { A2AError, type ListTasksRequest, type Task } from "../protocol/index.ts";
import { alice, askForInput, chunk, house, request } from "./engine.fixture.ts";

/** Five tasks, one second apart: the odd ones in context "odd", the last one waiting for input. */
async function fiveTasks(): Promise<ReturnType<typeof house> & { ids: string[] }> {
  const set = house();
  const ids: string[] = [];
  for (let at = 0; at < 5; at++) {
    const answer = set.engine.send(request(`${at}`, { contextId: at % 2 ? "odd" : "even" }), alice);
    const run = await set.puppet.run(at);
    run.say(chunk("out", false));
    if (at === 4) run.say(askForInput);
    run.end();
    ids.push(((await answer) as { task: Task }).task.id);
    set.clock.advance(1000);
  }
  return { ...set, ids };
}

describe("ListTasks", () => {
  it("lists the newest status first, whole and counted, without artifacts [F-32, F-34, F-35]", async () => {
    const { engine, ids } = await fiveTasks();
    const page = await engine.list({}, alice);
    expect(page.tasks.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(page).toMatchObject({ nextPageToken: "", pageSize: 50, totalSize: 5 });
    expect(page.tasks.every((task) => !("artifacts" in task))).toBe(true);
    const whole = await engine.list({ includeArtifacts: true }, alice);
    expect(whole.tasks.every(({ artifacts }) => artifacts?.length === 1)).toBe(true);
  });

  it("pages without losing or repeating a task, also when tasks change meanwhile [F-32, F-33]", async () => {
    const { engine, puppet, ids } = await fiveTasks();
    const seen: string[] = [];
    let pageToken = "";
    do {
      const page = await engine.list({ pageSize: 2, ...(pageToken ? { pageToken } : {}) }, alice);
      seen.push(...page.tasks.map(({ id }) => id));
      ({ nextPageToken: pageToken } = page);
      if (seen.length === 2) {
        // The task that the cursor's page began with moves to the front.
        const answer = engine.send(request("go on", { taskId: ids[4] as string }), alice);
        (await puppet.run(5)).end();
        await answer;
      }
    } while (pageToken);
    expect(seen).toEqual(ids.toReversed());
  });

  it("pages through a context of any name [F-32, F-36]", async () => {
    const { engine, puppet } = house();
    for (let at = 0; at < 2; at++) {
      const answer = engine.send(request("hi", { contextId: "会話 \ud83d" }), alice);
      (await puppet.run(at)).end();
      await answer;
    }
    const filter = { contextId: "会話 \ud83d", pageSize: 1 };
    const { nextPageToken: pageToken } = await engine.list(filter, alice);
    expect((await engine.list({ ...filter, pageToken }, alice)).tasks).toHaveLength(1);
  });

  it.each<[string, ListTasksRequest, number[]]>([
    ["context", { contextId: "odd" }, [3, 1]],
    ["status", { status: "TASK_STATE_INPUT_REQUIRED" }, [4]],
    ["time, inclusive", { statusTimestampAfter: "2026-01-01T00:00:03.000Z" }, [4, 3]],
    ["all of them together", { contextId: "even", status: "TASK_STATE_COMPLETED" }, [2, 0]],
  ])("filters by %s [F-36]", async (_, filter, expected) => {
    const { engine, ids } = await fiveTasks();
    const page = await engine.list(filter, alice);
    expect(page.tasks.map(({ id }) => ids.indexOf(id))).toEqual(expected);
    expect(page.totalSize).toBe(expected.length);
  });

  it("cuts the history as asked [F-31]", async () => {
    const { engine } = await fiveTasks();
    const none = await engine.list({ historyLength: 0 }, alice);
    expect(none.tasks.every((task) => !("history" in task))).toBe(true);
    expect((await engine.list({ historyLength: 1 }, alice)).tasks[0]?.history).toHaveLength(1);
  });

  it("refuses a token that is not its own, or that belongs to other filters [F-37]", async () => {
    const { engine } = await fiveTasks();
    const { nextPageToken: pageToken } = await engine.list({ pageSize: 1 }, alice);
    for (const request of [
      { pageToken: "rubbish" },
      { pageToken: btoa("[1,2]") },
      { pageToken, contextId: "odd" },
    ]) {
      const refused = engine.list(request, alice);
      await expect(refused).rejects.toBeInstanceOf(A2AError);
      await expect(refused).rejects.toMatchObject({
        reason: "INVALID_PARAMS",
        violations: [{ field: "pageToken" }],
      });
    }
  });
});
