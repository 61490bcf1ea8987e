import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  aliceTestTaskScope,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  createTestChunkEvent,
} from "../task-event-logs.fixture.ts";
import { commitTestAppendExpectingSuccess } from "../task-store.contract.ts";
import { SqliteStore } from "./sqlite-store.ts";

type Callback = (error: Error | null) => void;

/** Sync requests of the store that are still pending. */
const fakeDisk = vi.hoisted(() => ({ waits: false, pendingSyncs: [] as Callback[], fails: false }));

vi.mock(import("node:fs"), async (original) => {
  const fs = await original();
  return {
    ...fs,
    fdatasync: ((fd: number, callback: Callback) => {
      if (fakeDisk.waits) fakeDisk.pendingSyncs.push(callback);
      else fs.fdatasync(fd, callback);
    }) as typeof fs.fdatasync,
    fdatasyncSync: (fd: number) => {
      if (fakeDisk.fails) throw new Error("EIO: the disk is gone");
      fs.fdatasyncSync(fd);
    },
  };
});

describe("SqliteStore", () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-durable-"));
  let store: SqliteStore;

  beforeEach(async () => {
    store = new SqliteStore(join(folder, `${crypto.randomUUID()}.db`));
    await store.open();
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")]),
    );
    fakeDisk.waits = true;
  });

  afterEach(async () => {
    fakeDisk.waits = fakeDisk.fails = false;
    await store.close();
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  /** Returns the names of the promises that settle without the disk. */
  function watch(promises: Record<string, Promise<unknown>>): () => Promise<string[]> {
    const done: string[] = [];
    for (const [name, promise] of Object.entries(promises)) {
      promise.then(
        () => done.push(name),
        (error: unknown) => done.push(`${name}: ${String(error)}`),
      );
    }
    return async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return done.toSorted();
    };
  }

  const busy = { agentsAtWork: true };

  it("acknowledges and shows a commit only once it is on disk [E1]", async () => {
    const events = { messages: [{ messageId: "m", seq: 2 }] };
    const done = watch({
      commit: store.commit([createTestLogAppend("t", 1, [createTestChunkEvent("t", "a")], events)], busy),
      load: store.load(aliceTestTaskScope, "t"),
      list: store.list(aliceTestTaskScope, { limit: 10 }),
      "the message": store.findMessage(aliceTestTaskScope, "m"),
      "another message": store.findMessage(aliceTestTaskScope, "never"),
    });
    expect(await done()).toEqual(["another message"]);
    for (const answer of fakeDisk.pendingSyncs.splice(0)) answer(null);
    expect(await done()).toEqual(["another message", "commit", "list", "load", "the message"]);
  });

  it("rejects every operation after a failed sync until it is opened again", async () => {
    const done = watch({
      commit: store.commit([createTestLogAppend("t", 1, [createTestChunkEvent("t", "a")])], busy),
      load: store.load(aliceTestTaskScope, "t"),
    });
    for (const answer of fakeDisk.pendingSyncs.splice(0)) answer(new Error("EIO: the disk is gone"));
    const failed = "The task store must be opened again, because the disk failed: EIO: the disk is gone.";
    expect(await done()).toEqual([`commit: A2AError: ${failed}`, `load: A2AError: ${failed}`]);
    await expect(
      store.commit([createTestLogAppend("u", 0, [createTestSubmittedTaskEvent("u")])]),
    ).rejects.toThrow(failed);
    await expect(store.findMessage(aliceTestTaskScope, "m")).rejects.toThrow(failed);
    fakeDisk.waits = false;
    await store.close();
    await store.open();
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("u", 0, [createTestSubmittedTaskEvent("u")]),
    );
  });

  it("rejects every sync that was pending when another failed, because the system reports a failure once", async () => {
    const done = watch({
      first: store.commit([createTestLogAppend("t", 1, [createTestChunkEvent("t", "a")])], busy),
      second: store.commit([createTestLogAppend("t", 2, [createTestChunkEvent("t", "b")])], busy),
      load: store.load(aliceTestTaskScope, "t"),
    });
    const [first, second] = fakeDisk.pendingSyncs.splice(0);
    first?.(new Error("EIO: the disk is gone"));
    second?.(null);
    expect(await done()).toEqual([
      expect.stringContaining("first: A2AError: The task store must be opened again"),
      expect.stringContaining("load: A2AError: The task store must be opened again"),
      expect.stringContaining("second: A2AError: The task store must be opened again"),
    ]);
  });

  it("syncs in the event loop when no agent is running", async () => {
    await store.commit([createTestLogAppend("t", 1, [createTestChunkEvent("t", "a")])], {
      agentsAtWork: false,
    });
    expect(fakeDisk.pendingSyncs).toEqual([]);
    fakeDisk.fails = true;
    await expect(
      store.commit([createTestLogAppend("t", 2, [createTestChunkEvent("t", "b")])]),
    ).rejects.toThrow("the disk is gone");
  });

  it("returns from a transaction once it is on disk", () => {
    fakeDisk.fails = true;
    expect(() => store.runTransaction((db) => db.exec("PRAGMA user_version = 2"))).toThrow(
      "the disk is gone",
    );
  });
});
