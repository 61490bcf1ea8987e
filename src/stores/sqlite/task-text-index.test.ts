import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createTestChunkEvent,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { toFullTextQuery } from "./task-lists.ts";

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
async function storeTask(id: string, content: string): Promise<void> {
  const log = [
    createTestSubmittedTaskEvent(id),
    createTestChunkEvent(id, content),
    createTestStatusEvent(id, "TASK_STATE_COMPLETED"),
  ];
  expect(await store.commit([createTestLogAppend(id, 0, log, { hasRunningTurn: false })])).toEqual([
    undefined,
  ]);
}

const find = async (text: string): Promise<string[]> =>
  (await store.overview.list({ text, limit: 10 })).tasks.map(({ taskId }) => taskId);
const expectFound = (text: string, ids: readonly string[]): Promise<void> =>
  expect.poll(() => find(text), { interval: 10 }).toEqual(ids);

describe("the text index of a SQLite store", () => {
  it("continues after a restart, and forgets deleted tasks, also on the disk", async () => {
    await store.overview.textIndex?.start();
    await storeTask("a", "unforgettable");
    await store.close();
    await openStore();
    await store.overview.textIndex?.start();
    await expectFound("unforgettable", ["a"]);
    const [task] = await store.deletionStore.findMatchingTasks({ taskId: "a" }, 1);
    const options = { budgetMs: 1_000, overwrite: true };
    await store.deletionStore.deleteTasks(task ? [task] : [], options);
    await store.deletionStore.deleteRemnants(options);
    expect(await find("unforgettable")).toEqual([]);
    await storeTask("b", "other");
    await expectFound("other", ["b"]);
    store.rebuildFile();
    expect(readFileSync(join(folder, "tasks.db")).includes("unforgettable")).toBe(false);
  });

  it("quotes the words of a query", () => {
    expect(toFullTextQuery({ words: ["a", "or"], prefix: "near" })).toBe(`"a" "or" "near" *`);
  });
});
