import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { mkdtempSync } from "node:fs";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyTask, type TaskEvent } from "../../protocol/index.ts";
import {
  aliceTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
  foldTestTaskEvents,
  formatTestTime,
} from "../task-event-logs.fixture.ts";
import { commitTestAppendExpectingSuccess } from "../task-store.contract.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { buildStoppedTasksSql } from "./task-deletion.ts";

const BUDGET = { budgetMs: 60_000 };

describe("deletions in a SQLite file", () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-deleter-"));
  let path: string;
  let store: SqliteStore;

  beforeEach(async () => {
    path = join(folder, `${crypto.randomUUID()}.db`);
    store = new SqliteStore(path);
    await store.open();
  });

  afterEach(() => store.close());
  afterAll(() => rmSync(folder, { recursive: true }));

  const listEnded = (): ReturnType<typeof store.deletionStore.listStoppedTasks> =>
    store.deletionStore.listStoppedTasks({ status: "ended", before: formatTestTime(1e9), limit: 1000 });

  it("find old tasks and the message ids of a task through indexes", () => {
    const explain = (sql: string): string =>
      JSON.stringify(store.getDatabase().prepare(`EXPLAIN QUERY PLAN ${sql}`).all());
    const plan = explain(buildStoppedTasksSql("ended"));
    expect(
      plan.match(/SEARCH task USING (?:COVERING )?INDEX task_stopped \(state=\? AND timestamp>/g),
    ).toHaveLength(4);
    expect(plan).not.toMatch(/SCAN task(?! USING (?:COVERING )?INDEX task_running")/);
    expect(explain("DELETE FROM message WHERE task = 1")).toContain("INDEX message_task");
  });

  it("keep only the events that no snapshot covers if the task is large", async () => {
    const log = [createTestSubmittedTaskEvent("t"), createTestChunkEvent("t", "x".repeat(400_000))];
    const snapshot = copyTask(foldTestTaskEvents(log));
    await commitTestAppendExpectingSuccess(store, createTestLogAppend("t", 0, log, { snapshot }));
    const last = createTestStatusEvent("t", "TASK_STATE_COMPLETED", 1);
    await commitTestAppendExpectingSuccess(store, createTestLogAppend("t", 2, [last]));
    expect(await store.deletionStore.deleteEvents(await listEnded(), BUDGET)).toBe(1);
    const limit = { events: 10, maxBytes: 1e7 };
    expect(await store.readEvents(aliceTestTaskScope, "t", 0, limit)).toEqual([]);
    expect((await store.readEvents(aliceTestTaskScope, "t", 2, limit)).map(({ seq }) => seq)).toEqual([3]);
    expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({
      task: foldTestTaskEvents([...log, last]),
      seq: 3,
    });
  });

  it("keep the events that a snapshot references until the task is deleted", async () => {
    const chunk = (content: string): TaskEvent => createTestChunkEvent("t", content);
    const replacement = { artifactId: "answer", parts: [{ text: "b".repeat(50_000) }] };
    const log = [
      createTestSubmittedTaskEvent("t"),
      chunk("a".repeat(50_000)),
      { artifactUpdate: { taskId: "t", contextId: "talk", artifact: replacement } },
      chunk("c".repeat(50_000)),
      createTestStatusEvent("t", "TASK_STATE_COMPLETED", 1),
    ];
    for (const [at, event] of log.entries()) {
      const options =
        at === 3
          ? {
              snapshot: copyTask(foldTestTaskEvents(log.slice(0, 4))),
              artifactReferences: [{ artifactId: "answer", fromSeq: 3 }],
            }
          : {};
      await commitTestAppendExpectingSuccess(store, createTestLogAppend("t", at, [event], options));
    }
    const loaded = await store.load(aliceTestTaskScope, "t");
    expect(loaded?.task).toEqual(foldTestTaskEvents(log));
    const limit = { events: 10, maxBytes: 1e7 };
    // A second sweep changes nothing.
    for (let sweep = 0; sweep < 2; sweep++) {
      expect(await store.deletionStore.deleteEvents(await listEnded(), BUDGET)).toBe(1);
      expect(await store.load(aliceTestTaskScope, "t")).toEqual(loaded);
      expect(await store.readEvents(aliceTestTaskScope, "t", 0, limit)).toEqual([]);
      expect((await store.readEvents(aliceTestTaskScope, "t", 2, limit)).map(({ seq }) => seq)).toEqual([
        3, 4, 5,
      ]);
    }
    await store.deletionStore.deleteTasks(await listEnded(), BUDGET);
    expect(await store.load(aliceTestTaskScope, "t")).toBeUndefined();
    expect(store.getDatabase().prepare("SELECT count(*) AS rows FROM log").get()).toEqual({ rows: 0 });
  });

  it("survive a restart between the deletion of a task and the deletion of its long log", async () => {
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")]),
    );
    for (let n = 1; n < 100; n++)
      await commitTestAppendExpectingSuccess(
        store,
        createTestLogAppend("t", n, [createTestChunkEvent("t", "x")]),
      );
    const last = createTestStatusEvent("t", "TASK_STATE_COMPLETED", 1);
    await commitTestAppendExpectingSuccess(store, createTestLogAppend("t", 100, [last]));
    await store.deletionStore.deleteTasks(await listEnded(), { budgetMs: 0 });
    await store.close();
    store = new SqliteStore(path);
    await store.open();
    // A new task must not get the key of the deleted task, whose log still has rows.
    const log = [createTestSubmittedTaskEvent("u"), createTestStatusEvent("u", "TASK_STATE_FAILED", 2)];
    await commitTestAppendExpectingSuccess(store, createTestLogAppend("u", 0, log));
    expect(await store.load(aliceTestTaskScope, "u")).toMatchObject({
      task: foldTestTaskEvents(log),
      seq: 2,
    });
    while (await store.deletionStore.deleteRemnants({ budgetMs: 0 }));
    expect(store.getDatabase().prepare("SELECT count(*) AS rows FROM log").get()).toEqual({ rows: 1 });
    expect(store.getDatabase().prepare("SELECT count(*) AS rows FROM deleted_task").get()).toEqual({
      rows: 0,
    });
  });

  it("keep a tenth of the pages for new data, and return the others to the file system", async () => {
    for (let n = 0; n < 100; n++) {
      const id = `t${n}`;
      const log = [
        createTestSubmittedTaskEvent(id),
        createTestChunkEvent(id, "x".repeat(100_000)),
        createTestStatusEvent(id, "TASK_STATE_COMPLETED", 1),
      ];
      await commitTestAppendExpectingSuccess(store, createTestLogAppend(id, 0, log));
    }
    await store.deletionStore.deleteTasks((await listEnded()).slice(0, 90), BUDGET);
    while (await store.deletionStore.returnFreeSpace({ budgetMs: 1, all: false }));
    const { freeBytes, usedBytes } = await store.deletionStore.measureSize();
    expect(usedBytes).toBeLessThan(1_500_000);
    expect(freeBytes).toBeGreaterThan(0);
    expect(freeBytes).toBeLessThanOrEqual(256 * 4096);
    await store.close();
    expect(statSync(path).size).toBe(usedBytes + freeBytes);
    await store.open();
  });
});
