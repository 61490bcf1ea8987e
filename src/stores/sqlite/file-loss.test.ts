import { copyFileSync, fstatSync, openSync, statSync, truncateSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { isWindows } from "../../../test/support/is-windows.ts";
import { createTempFolder } from "../../../test/support/store-factories.ts";
import { FileLossWatch } from "./file-loss-watch.ts";
import { DatabaseDescriptor, OpenFileInspector } from "./file-loss.ts";

const FRAME_BYTES = 24 + 4096;

describe.skipIf(isWindows)("an inspection of the open files", () => {
  let file: string;
  let db: DatabaseSync;
  let inspector: OpenFileInspector;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    const { folder, remove: removeFolder } = await createTempFolder();
    remove = removeFolder;
    file = join(folder, "tasks.db");
    db = new DatabaseSync(file);
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0");
    db.exec("CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT)");
    insert(20);
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    inspector = createInspector();
  });

  afterEach(async () => {
    db.close();
    await remove();
  });

  function createInspector(): OpenFileInspector {
    const wal = openSync(`${file}-wal`, "r+");
    const [database, walIndex] = [file, `${file}-shm`].map((path) => new DatabaseDescriptor(path).number);
    return new OpenFileInspector(file, database ?? 0, { wal, walIndex: walIndex ?? 0 });
  }

  /** Each row fills about one page. */
  function insert(count: number): void {
    const statement = db.prepare("INSERT INTO item (text) VALUES (?)");
    for (let at = 0; at < count; at++) statement.run("x".repeat(3500));
  }

  const update = (id: number, text: string): unknown =>
    db.prepare("UPDATE item SET text = ? WHERE id = ?").run(text.repeat(3500), id);
  const checkpoint = (): void => db.exec("PRAGMA wal_checkpoint(PASSIVE)");
  const countFrames = (): number => Math.floor(statSync(`${file}-wal`).size / FRAME_BYTES);
  /** Removes bytes at the end of the log. */
  const cutLog = (bytes: number): void => truncateSync(`${file}-wal`, statSync(`${file}-wal`).size - bytes);
  const kindOfLoss = (): unknown => {
    const loss = inspector.findLoss();
    return typeof loss === "object" ? loss.kind : loss;
  };

  it("notices an earlier copy of the file whose header is the same", () => {
    copyFileSync(file, `${file}.copy`);
    update(10, "y");
    checkpoint();
    expect(kindOfLoss()).toBeUndefined();
    copyFileSync(`${file}.copy`, file);
    expect(kindOfLoss()).toBe("damaged");
  });

  it("notices an earlier copy of the file after the log has started again", () => {
    update(10, "y");
    checkpoint();
    expect(kindOfLoss()).toBeUndefined();
    copyFileSync(file, `${file}.copy`);
    insert(5);
    checkpoint();
    expect(kindOfLoss()).toBeUndefined();
    update(11, "z");
    copyFileSync(`${file}.copy`, file);
    expect(kindOfLoss()).toBe("damaged");
  });

  it("notices a log that lacks its last frames before the next commit", () => {
    insert(10);
    expect(kindOfLoss()).toBeUndefined();
    insert(10);
    cutLog(1);
    expect(kindOfLoss()).toBe("damaged");
  });

  it("notices a hole between new frames of the log", () => {
    insert(10);
    expect(kindOfLoss()).toBeUndefined();
    const known = countFrames();
    while (countFrames() < known + 100) insert(1);
    cutLog(30 * FRAME_BYTES);
    while (countFrames() < known + 150) insert(1);
    expect(kindOfLoss()).toBe("damaged");
  });

  it("reports a log without the part that is not in use as a log that can be copied", () => {
    insert(50);
    checkpoint();
    insert(1);
    expect(kindOfLoss()).toBeUndefined();
    cutLog(fstatSync(openSync(`${file}-wal`, "r")).size / 2);
    insert(2);
    expect(kindOfLoss()).toBe("log");
  });

  it("notices nothing if only SQLite changes the files, or if the time of the file changes", () => {
    const steps: (() => void)[] = [
      () => insert(10),
      checkpoint,
      () => update(3, "z"),
      () => db.exec("PRAGMA wal_checkpoint(TRUNCATE)"),
      () => insert(30),
      () => db.exec("DELETE FROM item WHERE id > 25"),
      checkpoint,
      () => db.exec("VACUUM"),
      () => db.exec("PRAGMA journal_size_limit = 0"),
      () => db.exec("PRAGMA wal_checkpoint(RESTART)"),
      () => insert(3),
      () => utimesSync(file, 1, 1),
      () => db.exec("BEGIN; UPDATE item SET text = ''; ROLLBACK"),
    ];
    for (const step of steps) {
      step();
      expect([String(step), kindOfLoss(), kindOfLoss()]).toEqual([String(step), undefined, undefined]);
    }
  });
});

describe("a watch for losses", () => {
  function watchLargeLog(losses: ("unclear" | undefined | "damaged")[]): string[] {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const calls: string[] = [];
    const watch = new FileLossWatch({
      file: "/missing/folder/\0/tasks.db",
      inspect: () => {
        calls.push("inspect");
        const loss = losses.shift();
        return loss === "damaged" ? { kind: loss, description: "" } : loss;
      },
      isLogLarge: () => true,
      checkpoint: () => void calls.push("checkpoint"),
      saveLog: () => false,
      onLoss: () => void calls.push("loss"),
    });
    onTestFinished(() => watch.stop());
    vi.advanceTimersByTime(250);
    return calls;
  }

  it("copies a large log between two inspections", () => {
    expect(watchLargeLog([])).toEqual(["inspect", "inspect", "checkpoint", "inspect"]);
  });

  it("copies no log to a damaged file", () => {
    expect(watchLargeLog(["unclear", "damaged"])).toEqual(["inspect", "inspect", "loss"]);
    expect(watchLargeLog(["damaged"])).toEqual(["inspect", "loss"]);
  });
});
