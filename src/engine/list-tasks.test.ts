import { describe, expect, it } from "vitest";
import { A2AError, type ListTasksRequest, type Task } from "../protocol/index.ts";
import {
  alice,
  inputRequiredTestEvent,
  createTestChunkEvent,
  createEngineFixture,
  createTestSendMessageRequest,
} from "./engine.fixture.ts";

/**
 * Creates five tasks, one second apart. Tasks with odd numbers are in context "odd", and the last task waits
 * for input.
 */
async function createFiveTasks(): Promise<ReturnType<typeof createEngineFixture> & { ids: string[] }> {
  const set = createEngineFixture();
  const ids: string[] = [];
  for (let at = 0; at < 5; at++) {
    const answer = set.engine.sendMessage(
      createTestSendMessageRequest(`${at}`, { contextId: at % 2 ? "odd" : "even" }),
      alice,
    );
    const run = await set.agent.waitForRun(at);
    run.emit(createTestChunkEvent("out", false));
    if (at === 4) run.emit(inputRequiredTestEvent);
    run.end();
    ids.push(((await answer) as { task: Task }).task.id);
    set.clock.advance(1000);
  }
  return { ...set, ids };
}

describe("ListTasks", () => {
  it("lists complete tasks, newest status first, with their total and without artifacts [F-32, F-34, F-35]", async () => {
    const { engine, ids } = await createFiveTasks();
    const page = await engine.listTasks({}, alice);
    expect(page.tasks.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(page).toMatchObject({ nextPageToken: "", pageSize: 50, totalSize: 5 });
    expect(page.tasks.every((task) => !("artifacts" in task))).toBe(true);
    const whole = await engine.listTasks({ includeArtifacts: true }, alice);
    expect(whole.tasks.every(({ artifacts }) => artifacts?.length === 1)).toBe(true);
  });

  it("pages without losing or repeating a task, even while tasks change [F-32, F-33]", async () => {
    const { engine, agent, ids } = await createFiveTasks();
    const seen: string[] = [];
    let pageToken = "";
    do {
      const page = await engine.listTasks({ pageSize: 2, ...(pageToken ? { pageToken } : {}) }, alice);
      seen.push(...page.tasks.map(({ id }) => id));
      ({ nextPageToken: pageToken } = page);
      if (seen.length === 2) {
        // The first task of the cursor's page moves to the front.
        const answer = engine.sendMessage(
          createTestSendMessageRequest("go on", { taskId: ids[4] as string }),
          alice,
        );
        (await agent.waitForRun(5)).end();
        await answer;
      }
    } while (pageToken);
    expect(seen).toEqual(ids.toReversed());
  });

  it("pages through a context of any name [F-32, F-36]", async () => {
    const { engine, agent } = createEngineFixture();
    for (let at = 0; at < 2; at++) {
      const answer = engine.sendMessage(
        createTestSendMessageRequest("hi", { contextId: "会話 \ud83d" }),
        alice,
      );
      (await agent.waitForRun(at)).end();
      await answer;
    }
    const filter = { contextId: "会話 \ud83d", pageSize: 1 };
    const { nextPageToken: pageToken } = await engine.listTasks(filter, alice);
    expect((await engine.listTasks({ ...filter, pageToken }, alice)).tasks).toHaveLength(1);
  });

  it.each<[string, ListTasksRequest, number[]]>([
    ["context", { contextId: "odd" }, [3, 1]],
    ["status", { status: "TASK_STATE_INPUT_REQUIRED" }, [4]],
    ["time, inclusive", { statusTimestampAfter: "2026-01-01T00:00:03.000Z" }, [4, 3]],
    ["all of them together", { contextId: "even", status: "TASK_STATE_COMPLETED" }, [2, 0]],
  ])("filters by %s [F-36]", async (_, filter, expected) => {
    const { engine, ids } = await createFiveTasks();
    const page = await engine.listTasks(filter, alice);
    expect(page.tasks.map(({ id }) => ids.indexOf(id))).toEqual(expected);
    expect(page.totalSize).toBe(expected.length);
  });

  it("limits the history as requested [F-31]", async () => {
    const { engine } = await createFiveTasks();
    const none = await engine.listTasks({ historyLength: 0 }, alice);
    expect(none.tasks.every((task) => !("history" in task))).toBe(true);
    expect((await engine.listTasks({ historyLength: 1 }, alice)).tasks[0]?.history).toHaveLength(1);
  });

  it("issues tokens that need no URL encoding, whatever the filter contains", async () => {
    const { engine, agent } = createEngineFixture();
    for (const contextId of ["~?>~?>", "a~?>~?>", "ab~?>~?>"]) {
      for (const text of ["one", "two"]) {
        const answer = engine.sendMessage(createTestSendMessageRequest(text, { contextId }), alice);
        (await agent.waitForRun(agent.runs.length)).end();
        await answer;
      }
      const first = await engine.listTasks({ contextId, pageSize: 1 }, alice);
      expect(first.nextPageToken).toMatch(/^[\w-]+$/);
      const second = await engine.listTasks(
        { contextId, pageSize: 1, pageToken: first.nextPageToken },
        alice,
      );
      expect(second.tasks).toHaveLength(1);
      expect(second.nextPageToken).toBe("");
    }
  });

  it("rejects a foreign token and a token for different filters [F-37]", async () => {
    const { engine } = await createFiveTasks();
    const { nextPageToken: pageToken } = await engine.listTasks({ pageSize: 1 }, alice);
    for (const request of [
      { pageToken: "rubbish" },
      { pageToken: btoa("[1,2]") },
      { pageToken, contextId: "odd" },
    ]) {
      const refused = engine.listTasks(request, alice);
      await expect(refused).rejects.toBeInstanceOf(A2AError);
      await expect(refused).rejects.toMatchObject({
        reason: "INVALID_PARAMS",
        violations: [{ field: "pageToken" }],
      });
    }
  });
});
