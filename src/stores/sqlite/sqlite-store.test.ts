import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  aliceTestTaskScope,
  idleTestTaskLease,
  loadTestTask,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  createTestChunkEvent,
  foldTestTaskEvents,
  createTestUserMessage,
  createTestStatusEvent,
  listDueTestWebhooks,
} from "../task-event-logs.fixture.ts";
import { createTestWebhookRegistration } from "../push-store.contract.ts";
import { commitTestAppendExpectingSuccess, defineTaskStoreContract } from "../task-store.contract.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { expectFileMode } from "../../../test/support/is-windows.ts";
import { countRuns } from "../../../test/support/count-runs.ts";
import { getScriptArguments } from "../../../test/support/fork-script.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
let fileCount = 0;

afterAll(() => rmSync(folder, { recursive: true }));

function createDatabasePath(): string {
  return join(folder, `${++fileCount}.db`);
}

/** Starts a process that commits to `path` until it is killed. */
function startCommitLoop(path: string): ChildProcessByStdio<null, Readable, null> {
  const program = getScriptArguments(new URL("commit-loop.fixture.ts", import.meta.url));
  return spawn(process.execPath, [...program, path], { stdio: ["ignore", "pipe", "inherit"] });
}

/** Kills the writer after `count` lines and returns all lines that it printed. */
async function killAfterLines(
  writer: ChildProcessByStdio<null, Readable, null>,
  count: number,
): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface(writer.stdout)) {
    if (lines.push(line) === count) writer.kill("SIGKILL");
  }
  return lines;
}

defineTaskStoreContract("SqliteStore", () => new SqliteStore(createDatabasePath()));

describe("SqliteStore", () => {
  let path: string;
  let store: SqliteStore;

  beforeEach(async () => {
    path = createDatabasePath();
    store = new SqliteStore(path);
    await store.open();
  });

  afterEach(() => store.close());

  async function reopen(): Promise<void> {
    await store.close();
    store = new SqliteStore(path);
    await store.open();
  }

  it("has all of its data after it is opened again [E9]", async () => {
    const log = [
      createTestSubmittedTaskEvent("t", { message: createTestUserMessage("m1") }),
      createTestStatusEvent("t", "TASK_STATE_WORKING", 5),
    ];
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("t", 0, log, { messages: [{ messageId: "m1", seq: 1 }], hasRunningTurn: true }),
    );
    await reopen();
    expect(await loadTestTask(store, aliceTestTaskScope, "t")).toEqual({
      task: foldTestTaskEvents(log),
      seq: 2,
      epoch: 0,
      awaitsRecovery: true,
    });
    expect(await store.findMessage(aliceTestTaskScope, "m1")).toEqual({ taskId: "t", seq: 1 });
    const turn = { seq: 1, attempt: 1, request: {}, service: {} };
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("kept", 0, [createTestSubmittedTaskEvent("kept")], { turn, hasRunningTurn: true }),
    );
    await reopen();
    expect((await store.turns.claim("echo", 10)).find(({ taskId }) => taskId === "kept")).toMatchObject({
      turn,
    });
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("t", 2, [createTestChunkEvent("t", "more")], { epoch: 1 }),
    );
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("u", 0, [createTestSubmittedTaskEvent("u")]),
    );
    expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 3 });
    expect(await loadTestTask(store, aliceTestTaskScope, "u")).toEqual({
      task: foldTestTaskEvents([createTestSubmittedTaskEvent("u")]),
      seq: 1,
      ...idleTestTaskLease,
    });
  });

  it("has its webhooks after it is opened again and never reuses their keys [I-02]", async () => {
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")], {
        webhooks: [createTestWebhookRegistration("a"), createTestWebhookRegistration("b")],
      }),
    );
    const before = await store.pushStore.list(aliceTestTaskScope, "t");
    await store.pushStore.remove(aliceTestTaskScope, "t", "b");
    await reopen();
    expect(await listDueTestWebhooks(store.pushStore)).toEqual(before?.slice(0, 1));
    const again = await store.pushStore.put(aliceTestTaskScope, "t", createTestWebhookRegistration("b"));
    expect(again?.key).toBeGreaterThan(before?.[1]?.key ?? Infinity);
  });

  it("loads from the newest snapshot, without the events before it", async () => {
    const log = [
      createTestSubmittedTaskEvent("t"),
      createTestChunkEvent("t", "a"),
      createTestChunkEvent("t", "b"),
    ];
    const task = { ...foldTestTaskEvents(log), metadata: { from: "snapshot" } };
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("t", 0, log.slice(0, 1), { snapshot: foldTestTaskEvents(log.slice(0, 1)) }),
    );
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("t", 1, log.slice(1), { snapshot: task }),
    );
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("t", 3, [createTestChunkEvent("t", "c")]),
    );
    expect(await loadTestTask(store, aliceTestTaskScope, "t")).toEqual({
      seq: 4,
      task: {
        ...foldTestTaskEvents([...log, createTestChunkEvent("t", "c")]),
        metadata: { from: "snapshot" },
      },
      ...idleTestTaskLease,
    });
  });

  it("creates its folder and file for the current user only", async () => {
    const nested = join(folder, "deep", "er", "tasks.db");
    const other = new SqliteStore(nested);
    await other.open();
    try {
      for (const file of [nested, `${nested}-wal`, `${nested}-lock`]) expectFileMode(file, 0o600);
      expectFileMode(join(folder, "deep"), 0o700);
    } finally {
      await other.close();
    }
  });

  describe("opening", () => {
    it("is rejected while the file is in use, even in the same process, and keeps the first lock", async () => {
      await expect(new SqliteStore(path).open()).rejects.toMatchObject({
        reason: "UNAVAILABLE",
        message: `${path} is in use by process ${process.pid}; stop that process or choose another file.`,
      });
      const second = startCommitLoop(path);
      expect(await killAfterLines(second, 1)).toEqual([
        expect.stringContaining(`in use by process ${process.pid};`),
      ]);
    });

    it("follows a link and detects a file in use under any name", async () => {
      const link = createDatabasePath();
      symlinkSync(path, link);
      await expect(new SqliteStore(link).open()).rejects.toThrow(`${path} is in use by process`);
      await commitTestAppendExpectingSuccess(
        store,
        createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")]),
      );
      await store.close();
      store = new SqliteStore(link);
      await store.open();
      await commitTestAppendExpectingSuccess(
        store,
        createTestLogAppend("t", 1, [createTestChunkEvent("t", "a")]),
      );
      expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 2 });
      await expect(new SqliteStore(path).open()).rejects.toThrow(`${path} is in use by process`);
    });

    it("is possible again as soon as the process that had the file was killed [E9]", async () => {
      const second = startCommitLoop(path);
      expect(await killAfterLines(second, 1)).toEqual([
        expect.stringContaining(`in use by process ${process.pid};`),
      ]);
      await store.close();
      const first = startCommitLoop(path);
      await once(first.stdout, "readable");
      await expect(store.open()).rejects.toThrow(`in use by process ${first.pid};`);
      first.kill("SIGKILL");
      await once(first, "exit");
      await store.open();
    });

    it("is rejected for a file that is not a database, and releases the lock", async () => {
      const other = createDatabasePath();
      writeFileSync(other, "Dear diary,\n".repeat(100));
      const diary = new SqliteStore(other);
      await expect(diary.open()).rejects.toThrow(
        `${other} cannot be opened: the file is not a SQLite database`,
      );
      rmSync(other);
      await diary.open();
      await diary.close();
    });
  });

  it("loses no acknowledged commit when its process is killed [E9]", async () => {
    await store.close();
    const acknowledged = new Map<string, number>();
    for (const count of [1, 100, countRuns(600, 2500)]) {
      for (const line of await killAfterLines(startCommitLoop(path), count)) {
        const [taskId = "", seq] = line.split(" ");
        acknowledged.set(taskId, Number(seq));
      }
    }
    await store.open();
    expect(acknowledged.size).toBeGreaterThan(20);
    for (const [taskId, seq] of acknowledged) {
      const events = await store.readEvents(aliceTestTaskScope, taskId, 0, {
        events: 100,
        maxBytes: 1_000_000,
      });
      expect(events.length).toBeGreaterThanOrEqual(seq);
      expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
      expect(await store.load(aliceTestTaskScope, taskId)).toMatchObject({ seq: events.length });
      const last = events.length - 2;
      expect(await store.findMessage(aliceTestTaskScope, `${taskId}-${last}`)).toEqual({
        taskId,
        seq: last + 1,
      });
    }
    const check = store.runTransaction((db) => db.prepare("PRAGMA integrity_check").all());
    expect(check).toEqual([{ integrity_check: "ok" }]);
  });

  describe("a failure of the disk", () => {
    const refused = createTestLogAppend("t", 1, [createTestChunkEvent("t", "x".repeat(100_000))]);
    const added = createTestLogAppend("u", 0, [createTestSubmittedTaskEvent("u")], {
      scope: { ...aliceTestTaskScope, principal: "new" },
      messages: [{ messageId: "m1", seq: 1 }],
    });

    beforeEach(() =>
      commitTestAppendExpectingSuccess(
        store,
        createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")]),
      ),
    );

    async function nothingWasKept(): Promise<void> {
      expect(await loadTestTask(store, aliceTestTaskScope, "t")).toEqual({
        task: foldTestTaskEvents([createTestSubmittedTaskEvent("t")]),
        seq: 1,
        ...idleTestTaskLease,
      });
      expect(await store.load(added.scope, "u")).toBeUndefined();
      expect(await store.findMessage(added.scope, "m1")).toBeUndefined();
      expect(await store.commit([added, refused])).toEqual([undefined, undefined]);
      expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 2 });
      await reopen();
      expect(await loadTestTask(store, added.scope, "u")).toEqual({
        task: foldTestTaskEvents([createTestSubmittedTaskEvent("u")]),
        seq: 1,
        ...idleTestTaskLease,
      });
    }

    it("rejects the entire batch when the disk is full", async () => {
      store.runTransaction((db) => db.exec("PRAGMA max_page_count = 20"));
      await expect(store.commit([added, refused])).rejects.toMatchObject({
        reason: "UNAVAILABLE",
        message: "The task store is not available: the disk is full; free some space.",
      });
      store.runTransaction((db) => db.exec("PRAGMA max_page_count = 100000"));
      await nothingWasKept();
    });

    it("rejects the batch when the file has become read-only", async () => {
      store.getDatabase().exec("PRAGMA query_only = ON");
      await expect(store.commit([added, refused])).rejects.toMatchObject({
        reason: "UNAVAILABLE",
        message: expect.stringContaining("read-only") as string,
      });
      store.getDatabase().exec("PRAGMA query_only = OFF");
      await nothingWasKept();
    });

    it("rejects everything once it is closed", async () => {
      await store.close();
      const closed = { reason: "UNAVAILABLE", message: expect.stringContaining("closed") as string };
      await expect(store.commit([added])).rejects.toMatchObject(closed);
      await expect(store.load(aliceTestTaskScope, "t")).rejects.toMatchObject(closed);
      await expect(store.turns.listQueued()).rejects.toMatchObject(closed);
      await store.open();
      await nothingWasKept();
    });
  });
});
