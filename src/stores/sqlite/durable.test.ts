import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { alice, append, birth, chunk } from "../logs.contract.ts";
import { commitOne } from "../store.contract.ts";
import { SqliteStore } from "./store.ts";

type Callback = (error: Error | null) => void;

/** What the store has asked of the disk and was not answered yet. */
const disk = vi.hoisted(() => ({ waits: false, asked: [] as Callback[], fails: false }));

vi.mock(import("node:fs"), async (original) => {
  const fs = await original();
  return {
    ...fs,
    fdatasync: ((fd: number, callback: Callback) => {
      if (disk.waits) disk.asked.push(callback);
      else fs.fdatasync(fd, callback);
    }) as typeof fs.fdatasync,
    fdatasyncSync: (fd: number) => {
      if (disk.fails) throw new Error("EIO: the disk is gone");
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
    await commitOne(store, append("t", 0, [birth("t")]));
    disk.waits = true;
  });

  afterEach(async () => {
    disk.waits = disk.fails = false;
    await store.close();
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  /** What has happened by the time that all has happened which needs no disk. */
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

  it("answers a commit, and shows what was committed, when the disk has it and not before [E1]", async () => {
    const events = { messages: [{ messageId: "m", seq: 2 }] };
    const done = watch({
      commit: store.commit([append("t", 1, [chunk("t", "a")], events)], busy),
      load: store.load(alice, "t"),
      list: store.list(alice, { limit: 10 }),
      "the message": store.findMessage(alice, "m"),
      "another message": store.findMessage(alice, "never"),
    });
    expect(await done()).toEqual(["another message"]);
    for (const answer of disk.asked.splice(0)) answer(null);
    expect(await done()).toEqual(["another message", "commit", "list", "load", "the message"]);
  });

  it("serves nobody once it can not know what the disk has, until it is opened again", async () => {
    const done = watch({
      commit: store.commit([append("t", 1, [chunk("t", "a")])], busy),
      load: store.load(alice, "t"),
    });
    for (const answer of disk.asked.splice(0)) answer(new Error("EIO: the disk is gone"));
    const failed = "The task store must be opened again, because the disk failed: EIO: the disk is gone.";
    expect(await done()).toEqual([`commit: A2AError: ${failed}`, `load: A2AError: ${failed}`]);
    await expect(store.commit([append("u", 0, [birth("u")])])).rejects.toThrow(failed);
    await expect(store.findMessage(alice, "m")).rejects.toThrow(failed);
    disk.waits = false;
    await store.close();
    await store.open();
    await commitOne(store, append("u", 0, [birth("u")]));
  });

  it("believes no sync that was under way when another failed: the system tells of a failure once", async () => {
    const done = watch({
      first: store.commit([append("t", 1, [chunk("t", "a")])], busy),
      second: store.commit([append("t", 2, [chunk("t", "b")])], busy),
      load: store.load(alice, "t"),
    });
    const [first, second] = disk.asked.splice(0);
    first?.(new Error("EIO: the disk is gone"));
    second?.(null);
    expect(await done()).toEqual([
      expect.stringContaining("first: A2AError: The task store must be opened again"),
      expect.stringContaining("load: A2AError: The task store must be opened again"),
      expect.stringContaining("second: A2AError: The task store must be opened again"),
    ]);
  });

  it("waits for the disk at once when no agent is kept waiting", async () => {
    await store.commit([append("t", 1, [chunk("t", "a")])], { agentsAtWork: false });
    expect(disk.asked).toEqual([]);
    disk.fails = true;
    await expect(store.commit([append("t", 2, [chunk("t", "b")])])).rejects.toThrow("the disk is gone");
  });

  it("returns from a transaction when the disk has it", () => {
    disk.fails = true;
    expect(() => store.transaction((db) => db.exec("PRAGMA user_version = 2"))).toThrow("the disk is gone");
  });
});
