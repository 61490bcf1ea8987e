import { describe, expect, it } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import type { StoredTask } from "./index.ts";
import {
  alice,
  collectSubscriptionEventsForTest,
  createEngineFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  createTestTaskScopeForCaller,
  flushEventLoopForTest,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
  inputRequiredTestEvent,
  type EngineFixture,
} from "./engine.fixture.ts";
import { RestingTaskCache } from "./task-registry.ts";
import type { ActiveTask } from "./active-task.ts";

class LoadCountingStore extends MemoryStore {
  loadCount = 0;

  override load(...args: Parameters<MemoryStore["load"]>): Promise<StoredTask | undefined> {
    this.loadCount++;
    return super.load(...args);
  }
}

const scope = createTestTaskScopeForCaller(alice);

/** Runs one turn of a task, and resolves with its id and the texts of its history. */
async function runTurn(
  { engine, agent }: EngineFixture,
  taskId?: string,
): Promise<{ taskId: string; texts: string[] }> {
  const request = createTestSendMessageRequest(`message ${agent.runs.length}`, taskId ? { taskId } : {});
  const answer = engine.sendMessage(request, alice);
  const run = await agent.waitForRun(agent.runs.length);
  run.emit(createTestChunkEvent(`chunk ${agent.runs.length}`), inputRequiredTestEvent).end();
  const task = getTestResponseTask(await answer);
  await flushEventLoopForTest();
  const texts = (task.history ?? []).flatMap(({ parts }) =>
    parts.map((part) => ("text" in part ? part.text : "")),
  );
  return { taskId: task.id, texts };
}

function createFixtureWithCountingStore(
  store = new LoadCountingStore(),
): EngineFixture & { store: LoadCountingStore } {
  return { ...createEngineFixture({ store }), store };
}

describe("a task that waits for its user", () => {
  it("is not loaded for the next message, for GetTask, and for a subscription", async () => {
    const fixture = createFixtureWithCountingStore();
    const { taskId } = await runTurn(fixture);
    const { texts } = await runTurn(fixture, taskId);
    expect(texts).toEqual(["message 0", "which?", "message 1"]);
    const task = await fixture.engine.getTask({ id: taskId }, alice);
    const subscription = await fixture.engine.subscribeToTask({ id: taskId }, alice);
    expect((await subscription.next())?.[0]?.event).toEqual({ task });
    subscription.close();
    expect(fixture.store.loadCount).toBe(0);
    expect(task).toEqual((await fixture.store.load(scope, taskId))?.task);
  });

  it("is read as a copy that later turns do not change", async () => {
    const fixture = createFixtureWithCountingStore();
    const { taskId } = await runTurn(fixture);
    const task = await fixture.engine.getTask({ id: taskId }, alice);
    const before = structuredClone(task);
    await runTurn(fixture, taskId);
    expect(task).toEqual(before);
  });

  it("streams every event of its next turn to a reader, after earlier readers", async () => {
    const fixture = createFixtureWithCountingStore();
    const { taskId } = await runTurn(fixture);
    const subscription = await fixture.engine.subscribeToTask({ id: taskId }, alice, { resumeAfterSeq: 0 });
    await runTurn(fixture, taskId);
    subscription.close();
    const later = await fixture.engine.subscribeToTask({ id: taskId }, alice, { resumeAfterSeq: 0 });
    await runTurn(fixture, taskId);
    const read = collectSubscriptionEventsForTest(later);
    await fixture.engine.cancelTask({ id: taskId }, alice);
    const seqs = (await read).map(({ seq }) => seq);
    const { seq: lastSeq } = await fixture.engine.getTaskWithSeq({ id: taskId }, alice);
    const log = await fixture.store.readEvents(scope, taskId, 0, { events: 1000, maxBytes: 1e9 });
    const visible = log.filter(({ event }) => !("message" in event)).map(({ seq }) => seq);
    expect(seqs).toEqual(visible);
    expect(seqs.at(-1)).toBe(lastSeq);
  });

  it("is loaded again after another node has changed it", async () => {
    const fixture = createFixtureWithCountingStore();
    const other = createFixtureWithCountingStore(fixture.store);
    const { taskId } = await runTurn(fixture);
    await runTurn(other, taskId);
    expect(await fixture.engine.getTask({ id: taskId }, alice)).toEqual(
      await other.engine.getTask({ id: taskId }, alice),
    );
    const { texts } = await runTurn(fixture, taskId);
    expect(texts).toEqual(["message 0", "which?", "message 0", "which?", "message 1"]);
    expect(fixture.errors).toEqual([]);
  });

  it("does not exist after its deletion or erasure", async () => {
    const fixture = createFixtureWithCountingStore();
    const { engine, store } = fixture;
    for (const isErased of [false, true]) {
      const { taskId } = await runTurn(fixture);
      const tasks = await store.deletionStore.findMatchingTasks({ taskId }, 1);
      await store.deletionStore.deleteTasks(tasks, { budgetMs: 1000 });
      if (isErased) engine.forgetErasedTask(scope, taskId);
      expect(await getRejectionA2AErrorReasonForTest(engine.getTask({ id: taskId }, alice))).toBe(
        "TASK_NOT_FOUND",
      );
      const request = createTestSendMessageRequest("again", { taskId });
      expect(await getRejectionA2AErrorReasonForTest(engine.sendMessage(request, alice))).toBe(
        "TASK_NOT_FOUND",
      );
    }
  });
});

describe("a cache of resting tasks", () => {
  const createTask = (taskId: string, size: number): ActiveTask =>
    ({ scope, taskId, size }) as unknown as ActiveTask;
  const listTaskIds = (cache: RestingTaskCache): string[] =>
    ["a", "b", "c", "d"].filter((taskId) => cache.find(scope, taskId));

  it("drops the task that has rested longest above its limits", () => {
    const cache = new RestingTaskCache(3, 100);
    for (const taskId of ["a", "b", "c"]) cache.add(createTask(taskId, 10));
    const a = cache.take(scope, "a");
    if (a) cache.add(a);
    cache.add(createTask("d", 10));
    expect(listTaskIds(cache)).toEqual(["a", "c", "d"]);
    cache.add(createTask("b", 85));
    expect(listTaskIds(cache)).toEqual(["b", "d"]);
    cache.add(createTask("c", 101));
    expect(listTaskIds(cache)).toEqual(["b", "d"]);
    cache.add(createTask("a", 100));
    expect(listTaskIds(cache)).toEqual(["a"]);
  });

  it("keeps the tasks of different callers apart", () => {
    const cache = new RestingTaskCache();
    cache.add(createTask("a", 1));
    expect(cache.find({ ...scope, principal: "bob" }, "a")).toBeUndefined();
  });
});
