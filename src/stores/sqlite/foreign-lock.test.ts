import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  aliceTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { SqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-lock-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Locks the database against writes like another program, and returns a function that ends the lock. */
function lockDatabase(path: string): () => void {
  const foreign = new DatabaseSync(path);
  foreign.exec("BEGIN IMMEDIATE");
  const unlock = (): void => {
    if (foreign.isOpen) foreign.close();
  };
  onTestFinished(unlock);
  return unlock;
}

describe("a SqliteStore whose file another program locks", () => {
  let path: string;
  let store: SqliteStore;

  beforeEach(async () => {
    path = join(folder, `${crypto.randomUUID()}.db`);
    store = new SqliteStore(path);
    await store.open();
    await store.commit([createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")])]);
  });
  afterEach(() => store.close());

  const commitChunk = (): Promise<unknown> =>
    store.commit([createTestLogAppend("t", 1, [createTestChunkEvent("t", "a")])]);

  it("never blocks the event loop, and serves reads [E17]", async () => {
    const unlock = lockDatabase(path);
    // SQLite would wait for the lock in the event loop.
    expect(store.getDatabase().prepare("PRAGMA busy_timeout").get()).toEqual({ timeout: 0 });
    const commit = commitChunk();
    expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 1 });
    unlock();
    expect(await commit).toEqual([undefined]);
    expect(store.health.state).toBe("healthy");
  });

  it("is failing until the lock ends, and then healthy without a new commit [E17]", async () => {
    const unlock = lockDatabase(path);
    const changes: object[] = [];
    store.health.onChange((change) => changes.push(change));
    await expect(commitChunk()).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      retryAfter: 2,
      message: expect.stringContaining("another process is writing to the file") as string,
    });
    expect(changes).toMatchObject([{ store: store.name, previousState: "healthy", state: "failing" }]);
    // A failing store refuses a commit after one attempt, without waiting for the lock.
    const attempts = vi.spyOn(StatementSync.prototype, "run");
    await expect(commitChunk()).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    const begins = attempts.mock.contexts.filter(
      (statement) => (statement as StatementSync).sourceSQL === "BEGIN IMMEDIATE",
    );
    expect(begins).toHaveLength(1);
    attempts.mockRestore();
    unlock();
    await expect.poll(() => store.health.state).toBe("healthy");
    expect(changes.at(-1)).toEqual({ store: store.name, previousState: "failing", state: "healthy" });
    expect(await commitChunk()).toEqual([undefined]);
  });

  it("keeps a task that a request begins to use while its deletion waits for the lock [E14, E17]", async () => {
    await store.commit([createTestLogAppend("t", 1, [createTestStatusEvent("t", "TASK_STATE_COMPLETED")])]);
    const tasks = await store.deletionStore.listStoppedTasks({ status: "ended", before: "9999", limit: 1 });
    expect(tasks).toHaveLength(1);
    const unlock = lockDatabase(path);
    let isInUse = false;
    const deleted = store.deletionStore.deleteTasks(tasks, { budgetMs: 1000, isInUse: () => isInUse });
    isInUse = true;
    unlock();
    expect(await deleted).toBe(0);
    expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 2 });
  });

  it("waits for a push config and throws at once in runTransaction [E17]", async () => {
    const unlock = lockDatabase(path);
    expect(() => store.runTransaction((db) => db.exec("CREATE TABLE own (n)"))).toThrow("another process");
    const saved = store.pushStore.saveProgress([]);
    unlock();
    await saved;
    store.runTransaction((db) => db.exec("CREATE TABLE own (n)"));
  });
});

describe("a hard link to the file of a store", () => {
  it("cannot be opened as another store, neither during nor after the use of the store", async () => {
    const path = join(folder, "linked.db");
    const link = join(folder, "link.db");
    const store = new SqliteStore(path);
    await store.open();
    linkSync(path, link);
    const linked = new SqliteStore(link);
    const refusal = { reason: "UNAVAILABLE", message: expect.stringContaining("is a hard link") as string };
    await expect(linked.open()).rejects.toMatchObject(refusal);
    await store.close();
    await expect(linked.open()).rejects.toMatchObject(refusal);
    await store.open();
    await store.close();
    rmSync(path);
    await linked.open();
    await linked.close();
  });

  it("is the same store if the lock file is linked as well, as in a copied folder of hard links", async () => {
    const path = join(folder, "all.db");
    const link = join(folder, "all-linked.db");
    const store = new SqliteStore(path);
    await store.open();
    linkSync(path, link);
    linkSync(`${path}-lock`, `${link}-lock`);
    await expect(new SqliteStore(link).open()).rejects.toMatchObject({
      message: expect.stringContaining(`in use by process ${process.pid}`) as string,
    });
    await store.close();
  });

  it("cannot be opened after the use of the store although the lock file is linked, because the WAL is not", async () => {
    const path = join(folder, "unused.db");
    const link = join(folder, "unused-linked.db");
    const store = new SqliteStore(path);
    await store.open();
    linkSync(path, link);
    linkSync(`${path}-lock`, `${link}-lock`);
    await store.close();
    await expect(new SqliteStore(link).open()).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      message: expect.stringContaining("is a hard link") as string,
    });
    await store.open();
    await store.close();
  });
});

describe("the lock of a store in another process", () => {
  it.skipIf(process.platform !== "linux").each<[string, (path: string) => string]>([
    [
      "its lock file was removed",
      (path) => {
        rmSync(`${path}-lock`);
        return path;
      },
    ],
    [
      "its file was moved to the path of another store",
      (path) => {
        renameSync(path, join(folder, "other.db"));
        return join(folder, "other.db");
      },
    ],
  ])("rejects a second store although %s [E1]", async (_, change) => {
    const other = new SqliteStore(join(folder, "other.db"));
    await other.open();
    await other.close();
    const path = join(folder, `${crypto.randomUUID()}.db`);
    const program = fileURLToPath(new URL("commit-loop.fixture.ts", import.meta.url));
    const child = spawn(process.execPath, [program, path], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const second = new SqliteStore(change(path));
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(second.open()).rejects.toMatchObject({
        reason: "UNAVAILABLE",
        message: expect.stringContaining("is in use by another process") as string,
      });
    child.kill("SIGKILL");
    await once(child, "exit");
    await second.open();
    await second.close();
  });

  it("does not refuse a file because a program reads it", async () => {
    const path = join(folder, "read.db");
    const store = new SqliteStore(path);
    await store.open();
    await store.close();
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec("BEGIN; SELECT * FROM task");
    await expect(store.open()).resolves.toBeUndefined();
    await store.close();
    reader.close();
  });
});
