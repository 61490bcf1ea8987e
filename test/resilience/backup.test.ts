import { existsSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.ts";
import type { Task } from "../../src/protocol/index.ts";
import { backupSqliteFile, SqliteStore } from "../../src/stores/index.ts";
import { createUserMessage } from "../support/http-bindings.ts";
import { createTempFile, killChild, runChild, startChild } from "./child-process.ts";

const LARGE_FILE_BLOBS = 50;

async function createLargeFile(): Promise<string> {
  const file = await createTempFile();
  const store = new SqliteStore(file);
  await store.open();
  store.runTransaction((db) => {
    db.exec("CREATE TABLE other (blob BLOB)");
    const insert = db.prepare("INSERT INTO other VALUES (randomblob(1000000))");
    for (let n = 0; n < LARGE_FILE_BLOBS; n++) insert.run();
  });
  await store.close();
  return file;
}

describe("a backup", () => {
  it("that is killed leaves no file with the name of the copy", async () => {
    const file = await createLargeFile();
    const target = `${file}-copy`;
    const child = await startChild("backup-child.ts", file, target);
    await expect.poll(() => existsSync(`${target}.incomplete`), { interval: 1 }).toBe(true);
    await killChild(child);
    expect(existsSync(`${target}.incomplete`)).toBe(true);
    expect(existsSync(target)).toBe(false);
    await expect(backupSqliteFile(file, target)).rejects.toThrow(`${target}.incomplete exists`);
    rmSync(`${target}.incomplete`);
    await backupSqliteFile(file, target);
    const copy = new SqliteStore(target);
    await copy.open();
    expect(copy.getDatabase().prepare("SELECT count(*) AS blobs FROM other").get()).toEqual({
      blobs: LARGE_FILE_BLOBS,
    });
    await copy.close();
  });

  it("under load contains every message that was acknowledged before its start", async () => {
    const file = await createTempFile();
    const server = await startChild("queue-child.ts", file);
    const client = await connect(server.url);
    const acknowledged = new Set<string>();
    const load = { isRunning: true };
    const senders = Array.from({ length: 4 }, async (_, sender) => {
      for (let n = 0; load.isRunning; n++) {
        const message = createUserMessage(`m${sender}-${n}`, `${n}`);
        const sent = await client.send(message, { configuration: { returnImmediately: true } });
        acknowledged.add((sent as { task: Task }).task.id);
      }
    });
    const copies: { target: string; ids: string[] }[] = [];
    for (let n = 0; n < 2; n++) {
      await expect.poll(() => acknowledged.size).toBeGreaterThanOrEqual(10 * (n + 1));
      const ids = [...acknowledged];
      const target = `${file}-copy${n}`;
      // The exit of a short process can be reported before its first message.
      expect(await runChild("backup-child.ts", file, target)).toEqual([0, null]);
      copies.push({ target, ids });
    }
    load.isRunning = false;
    await Promise.all(senders);
    for (const { target, ids } of copies) {
      const restored = await startChild("queue-child.ts", target);
      const other = await connect(restored.url);
      // The agent of the copy starts the interrupted turns again.
      const readStates = (): Promise<string[]> =>
        Promise.all(ids.map(async (id) => (await other.tasks.get(id)).status.state));
      await expect.poll(readStates).toEqual(ids.map(() => "TASK_STATE_INPUT_REQUIRED"));
      await killChild(restored);
    }
  });
});
