import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TaskListQuery } from "../../engine/index.ts";
import { copyTask } from "../../protocol/index.ts";
import {
  aliceTestTaskScope,
  bobTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
  foldTestTaskEvents,
  formatTestTime,
} from "../task-event-logs.fixture.ts";
import { commitTestAppendExpectingSuccess } from "../task-store.contract.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { MAX_COUNTED_TASKS } from "./task-lists.ts";

describe("a list of tasks in a SQLite file", () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
  let store: SqliteStore;
  beforeEach(async () => {
    store = new SqliteStore(join(folder, "tasks.db"));
    await store.open();
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  async function countTasks(query: Partial<TaskListQuery> = {}): Promise<number> {
    return (await store.list(aliceTestTaskScope, { limit: 1, ...query })).total;
  }

  it("counts all tasks by state, and tasks by context or time up to a limit", async () => {
    const count = MAX_COUNTED_TASKS + 1;
    const batch = Array.from({ length: count }, (_, at) =>
      createTestLogAppend(`t${at}`, 0, [createTestSubmittedTaskEvent(`t${at}`)]),
    );
    expect(await store.commit(batch)).toEqual(batch.map(() => undefined));
    expect(await countTasks()).toBe(count);
    expect(await countTasks({ status: "TASK_STATE_SUBMITTED" })).toBe(count);
    expect(await countTasks({ contextId: "talk" })).toBe(MAX_COUNTED_TASKS);
    expect(await countTasks({ statusSince: formatTestTime(0) })).toBe(MAX_COUNTED_TASKS);
    expect(await countTasks({ contextId: "talk", status: "TASK_STATE_SUBMITTED" })).toBe(MAX_COUNTED_TASKS);
  });

  it("reads no rows that contain only artifacts", async () => {
    const events = [
      createTestSubmittedTaskEvent("t"),
      createTestChunkEvent("t", "x".repeat(100_000)),
      createTestStatusEvent("t", "TASK_STATE_COMPLETED"),
    ];
    await commitTestAppendExpectingSuccess(store, createTestLogAppend("t", 0, events));
    store.runTransaction((db) => db.exec("UPDATE log SET lines = 'unreadable' WHERE has_only_artifacts = 1"));
    expect((await store.list(aliceTestTaskScope, { limit: 1 })).tasks).toHaveLength(1);
    await expect(store.list(aliceTestTaskScope, { limit: 1, includeArtifacts: true })).rejects.toThrow();
  });

  it("counts the content that a snapshot references in the log, and reads it only with artifacts", async () => {
    for (const id of ["a", "b"]) {
      const events = [createTestSubmittedTaskEvent(id), createTestChunkEvent(id, "x".repeat(100_000))];
      const snapshot = copyTask(foldTestTaskEvents(events));
      const artifactReferences = (snapshot.artifacts ?? []).map(({ artifactId }) => ({
        artifactId,
        fromSeq: 2,
      }));
      const append = createTestLogAppend(id, 0, events, { snapshot, artifactReferences });
      await commitTestAppendExpectingSuccess(store, append);
    }
    const query = { limit: 2, maxBytes: 150_000 };
    expect((await store.list(aliceTestTaskScope, query)).tasks).toHaveLength(2);
    const page = await store.list(aliceTestTaskScope, { ...query, includeArtifacts: true });
    expect(page).toMatchObject({ hasMore: true, tasks: [{ id: "b" }] });
    expect(JSON.stringify(page.tasks)).toContain("x".repeat(100_000));
    store.runTransaction((db) => db.exec("UPDATE log SET lines = 'unreadable' WHERE has_only_artifacts = 1"));
    expect((await store.list(aliceTestTaskScope, query)).tasks).toHaveLength(2);
  });

  it("counts only the tasks of committed batches", async () => {
    const first = createTestLogAppend("a", 0, [createTestSubmittedTaskEvent("a")]);
    await commitTestAppendExpectingSuccess(store, first);
    const batch = [
      createTestLogAppend("a", 1, [createTestStatusEvent("a", "TASK_STATE_WORKING")]),
      createTestLogAppend("b", 0, [createTestSubmittedTaskEvent("b")]),
      createTestLogAppend("c", 0, [createTestSubmittedTaskEvent("c")], { scope: bobTestTaskScope }),
    ];
    store.getDatabase()
      .exec(`CREATE TEMP TRIGGER failure BEFORE INSERT ON log WHEN NEW.lines LIKE '%"id":"c"%'
      BEGIN SELECT RAISE(ABORT, 'failure'); END`);
    await expect(store.commit(batch)).rejects.toThrow();
    expect(await countTasks()).toBe(1);
    store.getDatabase().exec("DROP TRIGGER failure");
    expect(await store.commit(batch)).toEqual([undefined, undefined, undefined]);
    expect(await countTasks()).toBe(2);
    expect(await countTasks({ status: "TASK_STATE_SUBMITTED" })).toBe(1);
    expect(await countTasks({ status: "TASK_STATE_WORKING" })).toBe(1);
    expect((await store.list(bobTestTaskScope, { limit: 1 })).total).toBe(1);
  });

  it("keeps no numbers of a scope without tasks", async () => {
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("a", 0, [createTestSubmittedTaskEvent("a")]),
    );
    const tasks = await store.deletionStore.findMatchingTasks({ taskId: "a" }, 1);
    await store.deletionStore.deleteTasks(tasks, { budgetMs: 1000 });
    expect(store.getDatabase().prepare("SELECT * FROM task_count").all()).toEqual([]);
  });
});
