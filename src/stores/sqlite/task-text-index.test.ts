import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LogAppend } from "../../engine/index.ts";
import {
  aliceTestTaskScope,
  bobTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { toFullTextQuery } from "./task-text-index.ts";

let folder: string;
let store: SqliteStore;
const openStore = async (): Promise<void> => {
  store = new SqliteStore(join(folder, "tasks.db"));
  await store.open();
};
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "text-index-"));
  await openStore();
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Commits a completed task whose artifact has a text. */
async function storeTask(id: string, content: string, options: Partial<LogAppend> = {}): Promise<void> {
  const log = [
    createTestSubmittedTaskEvent(id),
    createTestChunkEvent(id, content),
    createTestStatusEvent(id, "TASK_STATE_COMPLETED"),
  ];
  const append = createTestLogAppend(id, 0, log, { hasRunningTurn: false, ...options });
  expect(await store.commit([append])).toEqual([undefined]);
}

const find = async (text: string, more: object = {}): Promise<string[]> =>
  (await store.overview.list({ text, limit: 10, ...more })).tasks.map(({ taskId }) => taskId);
const waitUntilFound = (text: string, ids: readonly string[]): Promise<void> =>
  expect.poll(() => find(text), { interval: 10 }).toEqual(ids);

describe("the text index of a SQLite store", () => {
  it("finds tasks by words of their messages and artifacts, also those stored before", async () => {
    await storeTask("old", "The invoice of Zoë");
    expect(store.overview.searchesText).toBe(false);
    await store.overview.startTextIndex?.();
    expect(store.overview.searchesText).toBe(true);
    await storeTask("new", "another invoice");
    await waitUntilFound("invoice", ["old", "new"]);
    expect(await find("INVO")).toEqual(["old", "new"]);
    expect(await find("zoe invoice")).toEqual(["old"]);
    expect(await find("invo zoe")).toEqual([]);
    expect(await find("?!")).toEqual([]);
  });

  it("finds only tasks that meet the other conditions [E13]", async () => {
    await store.overview.startTextIndex?.();
    await storeTask("a", "shared word");
    await storeTask("b", "shared word", { scope: bobTestTaskScope, contextId: "other" });
    await waitUntilFound("shared", ["b", "a"]);
    expect(await find("shared", { scopes: [bobTestTaskScope] })).toEqual(["b"]);
    expect(await find("shared", { scopes: [] })).toEqual([]);
    expect(await find("shared", { contextId: "other" })).toEqual(["b"]);
    expect(await find("shared", { status: "TASK_STATE_FAILED" })).toEqual([]);
    expect(await find("shared", { agent: "none" })).toEqual([]);
    const first = await store.overview.list({ text: "shared", limit: 1 });
    expect(first).toMatchObject({ tasks: [{ taskId: "b" }], hasMore: true });
    expect(await find("shared", { after: first.tasks[0] })).toEqual(["a"]);
  });

  it("continues after a restart, and forgets deleted tasks, also on the disk", async () => {
    await store.overview.startTextIndex?.();
    await storeTask("a", "unforgettable");
    await store.close();
    await openStore();
    await store.overview.startTextIndex?.();
    await waitUntilFound("unforgettable", ["a"]);
    const [task] = await store.deletionStore.findMatchingTasks({ taskId: "a" }, 1);
    const options = { budgetMs: 1_000, overwrite: true };
    await store.deletionStore.deleteTasks(task ? [task] : [], options);
    await store.deletionStore.deleteRemnants(options);
    expect(await find("unforgettable")).toEqual([]);
    await storeTask("b", "other");
    await waitUntilFound("other", ["b"]);
    store.rebuildFile();
    expect(readFileSync(join(folder, "tasks.db")).includes("unforgettable")).toBe(false);
  });

  it("never fails for any text of a query", async () => {
    await store.overview.startTextIndex?.();
    await storeTask("a", "word");
    await waitUntilFound("word", ["a"]);
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.string({ unit: "binary" })), async (text) => {
        await find(text, { scopes: [aliceTestTaskScope] });
      }),
    );
    expect(toFullTextQuery(`a" OR b NEAR(c)*`)).toBe(`"a" "OR" "b" "NEAR" "c" *`);
  });
});
