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
import type { Task } from "../../protocol/index.ts";
import { createTestWebhookRegistration } from "../push-store.contract.ts";
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
    finishPendingSyncs();
    await store.close();
  });

  function finishPendingSyncs(error: Error | null = null): void {
    for (const finish of fakeDisk.pendingSyncs.splice(0)) finish(error);
  }

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
      "the message": Promise.resolve(store.findMessage(aliceTestTaskScope, "m")),
      "another message": Promise.resolve(store.findMessage(aliceTestTaskScope, "never")),
    });
    expect(await done()).toEqual(["another message"]);
    finishPendingSyncs();
    expect(await done()).toEqual(["another message", "commit", "list", "load", "the message"]);
  });

  const failedText =
    "The task store failed to sync its disk and opens its file again: EIO: the disk is gone.";

  async function commitWithFailedSync(): Promise<void> {
    const commit = store.commit([createTestLogAppend("t", 1, [createTestChunkEvent("t", "a")])], busy);
    commit.catch(() => {});
    await expect.poll(() => fakeDisk.pendingSyncs).not.toEqual([]);
    finishPendingSyncs(new Error("EIO: the disk is gone"));
    await expect(commit).rejects.toThrow(failedText);
  }

  it("rejects commits and reads of a task in doubt after a failed sync, and serves other tasks [E17, E1]", async () => {
    fakeDisk.waits = false;
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("u", 0, [createTestSubmittedTaskEvent("u")]),
    );
    fakeDisk.waits = true;
    await commitWithFailedSync();
    const rejection = { reason: "UNAVAILABLE", message: failedText, retryAfter: 2 };
    expect(store.health.state).toBe("failed");
    await expect(
      store.commit([createTestLogAppend("u", 1, [createTestChunkEvent("u", "a")])]),
    ).rejects.toMatchObject(rejection);
    await expect(store.load(aliceTestTaskScope, "t")).rejects.toMatchObject(rejection);
    await expect(
      store.readEvents(aliceTestTaskScope, "t", 0, { events: 9, maxBytes: 9 }),
    ).rejects.toMatchObject(rejection);
    await expect(store.list(aliceTestTaskScope, { limit: 9 })).rejects.toMatchObject(rejection);
    await expect(store.turns.listQueued()).rejects.toMatchObject(rejection);
    expect(await store.load(aliceTestTaskScope, "u")).toMatchObject({ seq: 1 });
    expect(await store.findMessage(aliceTestTaskScope, "never")).toBeUndefined();
  });

  it("opens its file again after a failed sync, and the file decides what is stored [E17, E1]", async () => {
    const states: string[] = [];
    store.health.onChange(({ state }) => states.push(state));
    const connection = store.getDatabase();
    await commitWithFailedSync();
    fakeDisk.waits = false;
    await vi.waitFor(
      () => {
        finishPendingSyncs();
        expect(store.health.state).toBe("healthy");
      },
      { timeout: 30_000 },
    );
    expect(states).toEqual(["failed", "healthy"]);
    expect(connection.isOpen).toBe(false);
    // This fake disk has kept the append, so the append must neither be lost nor be stored twice.
    expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 2 });
    expect(await store.commit([createTestLogAppend("t", 1, [createTestChunkEvent("t", "a")])])).toEqual([
      "conflict",
    ]);
  });

  it("stays failed while the disk fails, and keeps serving tasks that are not in doubt [E17]", async () => {
    const states: string[] = [];
    store.health.onChange(({ state }) => states.push(state));
    await commitWithFailedSync();
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect.poll(() => fakeDisk.pendingSyncs).not.toEqual([]);
      finishPendingSyncs(new Error("EIO: the disk is gone"));
    }
    expect(states).toEqual(["failed"]);
    expect(await store.load(aliceTestTaskScope, "another")).toBeUndefined();
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
      expect.stringContaining(`first: A2AError: ${failedText}`),
      expect.stringContaining(`load: A2AError: ${failedText}`),
      expect.stringContaining(`second: A2AError: ${failedText}`),
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

  it("makes 1,000 concurrent push configs durable with one sync [I-01]", async () => {
    const ids = Array.from({ length: 1_000 }, (_, n) => `w${n}`);
    const puts = ids.map((id) =>
      store.pushStore.put(aliceTestTaskScope, "t", createTestWebhookRegistration(id)),
    );
    const done = watch({
      puts: Promise.all(puts),
      removal: store.pushStore.remove(aliceTestTaskScope, "t", "w0"),
    });
    await expect.poll(() => fakeDisk.pendingSyncs).toHaveLength(1);
    const late = store.pushStore.remove(aliceTestTaskScope, "t", "w1");
    expect(await done()).toEqual([]);
    expect(fakeDisk.pendingSyncs).toHaveLength(1);
    finishPendingSyncs();
    expect(await done()).toEqual(["puts", "removal"]);
    await expect.poll(() => fakeDisk.pendingSyncs).toHaveLength(1);
    finishPendingSyncs();
    expect(await late).toBe(true);
    expect(await store.pushStore.list(aliceTestTaskScope, "t")).toHaveLength(998);
  });

  it("commits a push config together with the events of the same turn of the event loop [I-01]", async () => {
    const done = watch({
      config: store.pushStore.put(aliceTestTaskScope, "t", createTestWebhookRegistration("w")),
      commit: store.commit([createTestLogAppend("t", 1, [createTestChunkEvent("t", "a")])], busy),
    });
    expect(await done()).toEqual([]);
    expect(fakeDisk.pendingSyncs).toHaveLength(1);
    finishPendingSyncs();
    expect(await done()).toEqual(["commit", "config"]);
  });

  it("commits a push config although the events in the same transaction cannot be committed [I-01]", async () => {
    fakeDisk.waits = false;
    const config = store.pushStore.put(aliceTestTaskScope, "t", createTestWebhookRegistration("w"));
    const snapshot = { id: 1n } as unknown as Task;
    await expect(
      store.commit([createTestLogAppend("t", 1, [createTestChunkEvent("t", "a")], { snapshot })]),
    ).rejects.toThrow("BigInt");
    expect(await config).toMatchObject({ config: { id: "w" }, deliveredSeq: 1 });
    expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 1 });
  });

  it("rejects a push config whose sync fails [E17]", async () => {
    const config = store.pushStore.put(aliceTestTaskScope, "t", createTestWebhookRegistration("w"));
    config.catch(() => {});
    await expect.poll(() => fakeDisk.pendingSyncs).not.toEqual([]);
    finishPendingSyncs(new Error("EIO: the disk is gone"));
    await expect(config).rejects.toThrow(failedText);
    expect(store.health.state).toBe("failed");
  });

  it("returns from a transaction once it is on disk", () => {
    fakeDisk.fails = true;
    expect(() => store.runTransaction((db) => db.exec("PRAGMA user_version = 2"))).toThrow(
      "the disk is gone",
    );
  });
});
