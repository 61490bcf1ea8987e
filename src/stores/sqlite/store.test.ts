import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { alice, append, birth, chunk, folded, question, status } from "../logs.contract.ts";
import { registration } from "../push.contract.ts";
import { commitOne, storeContract } from "../store.contract.ts";
import { SqliteStore } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
let files = 0;

afterAll(() => rmSync(folder, { recursive: true }));

function newPath(): string {
  return join(folder, `${++files}.db`);
}

/** A process that commits to `path` until it is killed. */
function startWriter(path: string): ChildProcessByStdio<null, Readable, null> {
  const program = fileURLToPath(new URL("commit-loop.contract.ts", import.meta.url));
  return spawn(process.execPath, [program, path], { stdio: ["ignore", "pipe", "inherit"] });
}

/** Kills the writer after its `count`th line; all the lines that it managed to print. */
async function killAfter(
  writer: ChildProcessByStdio<null, Readable, null>,
  count: number,
): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface(writer.stdout)) {
    if (lines.push(line) === count) writer.kill("SIGKILL");
  }
  return lines;
}

storeContract("SqliteStore", () => new SqliteStore(newPath()));

describe("SqliteStore", () => {
  let path: string;
  let store: SqliteStore;

  beforeEach(async () => {
    path = newPath();
    store = new SqliteStore(path);
    await store.open();
  });

  afterEach(() => store.close());

  async function reopen(): Promise<void> {
    await store.close();
    store = new SqliteStore(path);
    await store.open();
  }

  it("has after a reopening all that it had before [E9]", async () => {
    const log = [birth("t", { message: question("m1") }), status("t", "TASK_STATE_WORKING", 5)];
    await commitOne(store, append("t", 0, log, { messages: [{ messageId: "m1", seq: 1 }] }));
    await reopen();
    expect(await store.load(alice, "t")).toEqual({ task: folded(log), seq: 2 });
    expect(await store.findMessage(alice, "m1")).toEqual({ taskId: "t", seq: 1 });
    expect(await store.unfinished()).toMatchObject([{ scope: alice, taskId: "t", seq: 2 }]);
    const turn = { seq: 1, attempt: 1, request: {}, service: {} };
    await commitOne(store, append("kept", 0, [birth("kept")], { turn }));
    await reopen();
    expect((await store.unfinished()).find(({ taskId }) => taskId === "kept")).toMatchObject({ turn });
    await commitOne(store, append("t", 2, [chunk("t", "more")]));
    await commitOne(store, append("u", 0, [birth("u")]));
    expect(await store.load(alice, "t")).toMatchObject({ seq: 3 });
    expect(await store.load(alice, "u")).toEqual({ task: folded([birth("u")]), seq: 1 });
  });

  it("has after a reopening the webhooks that it had, and never gives their keys again [I-02]", async () => {
    await commitOne(
      store,
      append("t", 0, [birth("t")], { webhooks: [registration("a"), registration("b")] }),
    );
    const before = await store.push.list(alice, "t");
    await store.push.remove(alice, "t", "b");
    await reopen();
    expect(await store.push.due(0, 10)).toEqual(before?.slice(0, 1));
    const again = await store.push.put(alice, "t", registration("b"));
    expect(again?.key).toBeGreaterThan(before?.[1]?.key ?? Infinity);
  });

  it("loads from the newest snapshot, without the events before it", async () => {
    const log = [birth("t"), chunk("t", "a"), chunk("t", "b")];
    const task = { ...folded(log), metadata: { from: "snapshot" } };
    await commitOne(store, append("t", 0, log.slice(0, 1), { snapshot: folded(log.slice(0, 1)) }));
    await commitOne(store, append("t", 1, log.slice(1), { snapshot: task }));
    await commitOne(store, append("t", 3, [chunk("t", "c")]));
    expect(await store.load(alice, "t")).toEqual({
      seq: 4,
      task: { ...folded([...log, chunk("t", "c")]), metadata: { from: "snapshot" } },
    });
  });

  it("makes its folder and file for this user only", async () => {
    const nested = join(folder, "deep", "er", "tasks.db");
    const other = new SqliteStore(nested);
    await other.open();
    try {
      for (const file of [nested, `${nested}-wal`, `${nested}-lock`]) {
        expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
      }
      expect((statSync(join(folder, "deep")).mode & 0o777).toString(8)).toBe("700");
    } finally {
      await other.close();
    }
  });

  describe("opening", () => {
    it("is refused while the file is in use, within this process too, which costs the first no lock", async () => {
      await expect(new SqliteStore(path).open()).rejects.toMatchObject({
        reason: "UNAVAILABLE",
        message: `${path} is in use by process ${process.pid}; stop that process or choose another file.`,
      });
      const second = startWriter(path);
      expect(await killAfter(second, 1)).toEqual([
        expect.stringContaining(`in use by process ${process.pid};`),
      ]);
    });

    it("follows a link, and finds the file in use by whatever name", async () => {
      const link = newPath();
      symlinkSync(path, link);
      await expect(new SqliteStore(link).open()).rejects.toThrow(`${path} is in use by process`);
      await commitOne(store, append("t", 0, [birth("t")]));
      await store.close();
      store = new SqliteStore(link);
      await store.open();
      await commitOne(store, append("t", 1, [chunk("t", "a")]));
      expect(await store.load(alice, "t")).toMatchObject({ seq: 2 });
      await expect(new SqliteStore(path).open()).rejects.toThrow(`${path} is in use by process`);
    });

    it("is possible again as soon as the process that had the file was killed [E9]", async () => {
      const second = startWriter(path);
      expect(await killAfter(second, 1)).toEqual([
        expect.stringContaining(`in use by process ${process.pid};`),
      ]);
      await store.close();
      const first = startWriter(path);
      await once(first.stdout, "readable");
      await expect(store.open()).rejects.toThrow(`in use by process ${first.pid};`);
      first.kill("SIGKILL");
      await once(first, "exit");
      await store.open();
    });

    it("adds the tables that a file of the first version lacks, and keeps what it has", async () => {
      const log = [birth("t", { message: question("m1") }), chunk("t", "a")];
      await commitOne(store, append("t", 0, log, { messages: [{ messageId: "m1", seq: 1 }] }));
      // What versions 2 and 3 added, taken away again.
      store.transaction((db) => db.exec("DROP TABLE push; DROP TABLE turn; PRAGMA user_version = 1;"));
      await reopen();
      expect(await store.load(alice, "t")).toEqual({ task: folded(log), seq: 2 });
      expect(await store.findMessage(alice, "m1")).toEqual({ taskId: "t", seq: 1 });
      expect(await store.push.put(alice, "t", registration("w"))).toMatchObject({ delivered: 2 });
      await reopen();
      expect(await store.push.list(alice, "t")).toMatchObject([registration("w")]);
      expect(store.database().prepare("PRAGMA user_version").get()).toEqual({ user_version: 3 });
    });

    it("is refused for a file that a newer version wrote", async () => {
      store.transaction((db) => db.exec("PRAGMA user_version = 99"));
      await store.close();
      await expect(store.open()).rejects.toThrow(
        `${path} was written by a newer version of Colloquy (schema 99`,
      );
    });

    it("is refused for a file that is no database, and keeps no lock on it", async () => {
      const other = newPath();
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

  it("loses nothing that it acknowledged when its process is killed [E9]", async () => {
    await store.close();
    const acknowledged = new Map<string, number>();
    for (const count of [1, 100, 1000, 2500]) {
      for (const line of await killAfter(startWriter(path), count)) {
        const [taskId = "", seq] = line.split(" ");
        acknowledged.set(taskId, Number(seq));
      }
    }
    await store.open();
    expect(acknowledged.size).toBeGreaterThan(100);
    for (const [taskId, seq] of acknowledged) {
      const events = await store.read(alice, taskId, 0, { events: 100, maxBytes: 1_000_000 });
      expect(events.length).toBeGreaterThanOrEqual(seq);
      expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
      expect(await store.load(alice, taskId)).toMatchObject({ seq: events.length });
      const last = events.length - 2;
      expect(await store.findMessage(alice, `${taskId}-${last}`)).toEqual({ taskId, seq: last + 1 });
    }
    const check = store.transaction((db) => db.prepare("PRAGMA integrity_check").all());
    expect(check).toEqual([{ integrity_check: "ok" }]);
  });

  describe("a failure of the disk", () => {
    const refused = append("t", 1, [chunk("t", "x".repeat(100_000))]);
    const added = append("u", 0, [birth("u")], {
      scope: { ...alice, principal: "new" },
      messages: [{ messageId: "m1", seq: 1 }],
    });

    beforeEach(() => commitOne(store, append("t", 0, [birth("t")])));

    async function nothingWasKept(): Promise<void> {
      expect(await store.load(alice, "t")).toEqual({ task: folded([birth("t")]), seq: 1 });
      expect(await store.load(added.scope, "u")).toBeUndefined();
      expect(await store.findMessage(added.scope, "m1")).toBeUndefined();
      expect(await store.commit([added, refused])).toEqual([undefined, undefined]);
      expect(await store.load(alice, "t")).toMatchObject({ seq: 2 });
      await reopen();
      expect(await store.load(added.scope, "u")).toEqual({ task: folded([birth("u")]), seq: 1 });
    }

    it("rejects the batch, of which nothing is kept, when the disk is full", async () => {
      store.transaction((db) => db.exec("PRAGMA max_page_count = 20"));
      await expect(store.commit([added, refused])).rejects.toMatchObject({
        reason: "UNAVAILABLE",
        message: "The task store cannot serve: the disk is full; free some space.",
      });
      store.transaction((db) => db.exec("PRAGMA max_page_count = 100000"));
      await nothingWasKept();
    });

    it("rejects the batch when the file has become read-only", async () => {
      store.database().exec("PRAGMA query_only = ON");
      await expect(store.commit([added, refused])).rejects.toMatchObject({
        reason: "UNAVAILABLE",
        message: expect.stringContaining("read-only") as string,
      });
      store.database().exec("PRAGMA query_only = OFF");
      await nothingWasKept();
    });

    it("rejects everything once it is closed", async () => {
      await store.close();
      const closed = { reason: "UNAVAILABLE", message: expect.stringContaining("closed") as string };
      await expect(store.commit([added])).rejects.toMatchObject(closed);
      await expect(store.load(alice, "t")).rejects.toMatchObject(closed);
      await expect(store.unfinished()).rejects.toMatchObject(closed);
      await store.open();
      await nothingWasKept();
    });
  });
});
