import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { agent } from "../../src/agents/adapters/index.ts";
import { runCliInTestProcess } from "../../src/cli/cli-test-process.fixture.ts";
import { connect, type A2AClient } from "../../src/client/index.ts";
import type { StoreStateChange } from "../../src/engine/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { backupSqliteFile } from "../../src/stores/index.ts";
import { isWindows } from "../support/is-windows.ts";
import { createTempFolder } from "../support/store-factories.ts";

const echo = agent({ name: "echo", description: "Echoes" }, async function* ({ text }) {
  yield text;
});

/** Advances the clock past the inspections that notice a loss. */
const inspectFiles = (): unknown => vi.advanceTimersByTime(1000);

describe.skipIf(isWindows)("a server whose SQLite file is lost", () => {
  let parent: string;
  let folder: string;
  let file: string;
  let remove: () => Promise<void>;
  let server: Server;
  let url: string;
  let client: A2AClient;
  let changes: StoreStateChange[];
  let stored: string[];

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    ({ folder: parent, remove } = await createTempFolder());
    folder = join(parent, ".colloquy");
    file = join(folder, "tasks.db");
    await startServer();
    stored = [await send("in the file")];
    // SQLite empties the log when the server stops.
    await server.close({ graceMs: 0 });
    await startServer();
  });

  afterEach(async () => {
    await server.close({ graceMs: 0 });
    vi.useRealTimers();
    await remove();
  });

  async function startServer(): Promise<void> {
    changes = [];
    const observer = { onStoreState: (change: StoreStateChange) => void changes.push(change) };
    server = createServer(echo, { store: `sqlite:${file}`, observer });
    ({ url } = await server.listen());
    client = await connect(url, { retry: { maxRetries: 0 } });
  }

  const readReadiness = async (): Promise<unknown> => (await fetch(`${url}/readyz`)).json();

  async function send(messageId: string, size = 0): Promise<string> {
    const text = messageId.padEnd(size, ".");
    const sent = await client.send({ messageId, role: "ROLE_USER", parts: [{ text }] });
    return "task" in sent ? sent.task.id : "";
  }

  const getLogSize = (): number => statSync(`${file}-wal`).size;
  const listTaskIds = async (): Promise<string[]> =>
    (await client.tasks.list()).tasks.map(({ id }) => id).toSorted();

  it.each<[string, "complete" | "recorded" | "damaged", () => void]>([
    ["removed", "recorded", () => rmSync(file)],
    ["removed with its folder", "recorded", () => rmSync(folder, { recursive: true })],
    ["moved", "recorded", () => renameSync(file, `${file}.old`)],
    ["moved with its folder", "recorded", () => renameSync(folder, `${folder}-old`)],
    ["truncated", "recorded", () => truncateSync(file)],
    ["cut in half", "damaged", () => truncateSync(file, statSync(file).size / 2)],
    ["replaced by a moved backup", "recorded", () => renameSync(`${file}.copy`, file)],
    ["overwritten with a backup", "recorded", () => copyFileSync(`${file}.copy`, file)],
    ["left without its log", "complete", () => rmSync(`${file}-wal`)],
    ["left with an empty log", "recorded", () => truncateSync(`${file}-wal`)],
    ["left with half of its log", "recorded", () => truncateSync(`${file}-wal`, getLogSize() / 2)],
    ["left without the index of its log", "complete", () => rmSync(`${file}-shm`)],
  ])("refuses work, and names what it acknowledged: the file is %s [E9]", async (_, outcome, lose) => {
    await backupSqliteFile(file, `${file}.copy`);
    const first = await send("in the log");
    inspectFiles();
    lose();
    const second = await send("after").catch(() => undefined);
    inspectFiles();
    expect(changes).toMatchObject([{ state: "lost", previousState: "healthy" }]);
    const message = changes[0]?.error?.message ?? "";
    expect(message).toContain(file);
    expect(message).not.toContain('"in the log"');
    if (second !== undefined) for (const id of ["after", second]) expect(message).toContain(`"${id}"`);
    await expect(send("refused")).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    expect(await readReadiness()).toEqual({ status: "unavailable", store: "lost" });
    await server.close({ graceMs: 0 });

    expect(existsSync(`${file}-lost`)).toBe(outcome !== "complete");
    if (outcome !== "complete") {
      await expect(createServer(echo, { store: `sqlite:${file}` }).listen()).rejects.toThrow(`${file}-lost`);
      const record = JSON.parse(readFileSync(`${file}-lost`, "utf8")) as { messageIds: string[] };
      expect(record.messageIds).toEqual(second === undefined ? [] : ["after"]);
      // A copy opens what the next process would open. This process keeps the damaged file open.
      expect(existsSync(`${file}-wal`) && getLogSize() > 0).toBe(false);
      if (existsSync(file)) copyFileSync(file, (file = join(parent, "restarted.db")));
      else rmSync(`${file}-lost`);
    }
    if (outcome === "damaged") return await expect(startServer()).rejects.toThrow("restore it from a backup");
    await startServer();
    const kept = await listTaskIds();
    const acknowledged = [...stored, first, ...(second === undefined ? [] : [second])];
    if (outcome === "complete") expect(kept).toEqual(acknowledged.toSorted());
    else expect(acknowledged).toEqual(expect.arrayContaining(kept));
    expect(await send("new")).not.toBe("");
  });

  it("notices a backup that is copied over the file before a checkpoint", async () => {
    await send("before", 2 ** 20);
    await backupSqliteFile(file, `${file}.copy`);
    inspectFiles();
    copyFileSync(`${file}.copy`, file);
    // The checkpoint after this message would write over the header of the copy.
    const sent = send("after", 2 ** 20).catch(() => undefined);
    await expect.poll(() => changes).toMatchObject([{ state: "lost", previousState: "healthy" }]);
    expect(readFileSync(`${file}-lost`, "utf8")).toContain('"after"');
    await server.close({ graceMs: 0 });
    await sent;
  });

  it("loses nothing when the unused part of the log is cut off", async () => {
    const first = await send("in the earlier log", 2 ** 20);
    const other = new DatabaseSync(file);
    other.exec("PRAGMA wal_checkpoint(PASSIVE)");
    other.close();
    const second = await send("in the log");
    inspectFiles();
    truncateSync(`${file}-wal`, getLogSize() / 2);
    const third = await send("after");
    inspectFiles();
    expect(changes).toMatchObject([{ state: "lost", previousState: "healthy" }]);
    await server.close({ graceMs: 0 });
    expect(existsSync(`${file}-lost`)).toBe(false);
    await startServer();
    expect(await listTaskIds()).toEqual([...stored, first, second, third].toSorted());
  });

  it("notices no loss while SQLite itself changes the files", async () => {
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    for (const change of [
      "VACUUM",
      "PRAGMA wal_checkpoint(TRUNCATE)",
      "PRAGMA incremental_vacuum",
      "CREATE TABLE own (n)",
    ]) {
      await send(change);
      other.exec(change);
      inspectFiles();
      await send(`${change} again`);
      inspectFiles();
    }
    await server.maintenance.eraseTasks({ principal: "" });
    await server.maintenance.compact();
    chmodSync(file, 0o640);
    await backupSqliteFile(file, `${file}.copy`);
    inspectFiles();
    expect(changes).toEqual([]);
    expect(await send("last")).not.toBe("");
  });

  it("continues when the file is moved back [E17]", async () => {
    renameSync(folder, `${folder}-old`);
    const taskId = await send("meanwhile");
    inspectFiles();
    expect(await readReadiness()).toMatchObject({ store: "lost" });
    rmSync(folder, { recursive: true });
    renameSync(`${folder}-old`, folder);
    await expect.poll(readReadiness).toMatchObject({ store: "healthy" });
    const next = await send("next");
    await server.close({ graceMs: 0 });
    await startServer();
    expect(await listTaskIds()).toEqual([...stored, taskId, next].toSorted());
  });

  it("saves a removed file with colloquy store backup", async () => {
    const before = await send("before");
    rmSync(folder, { recursive: true });
    const after = await send("after");
    inspectFiles();
    const copy = join(parent, "copy.db");
    const run = (...args: string[]): Promise<{ out: string; err: string }> =>
      runCliInTestProcess(["store", ...args, "--store", `sqlite:${file}`]);
    // After the loss, the server creates its socket again.
    await expect.poll(async () => (await run("info")).out).toContain("lost");
    expect((await run("backup", copy)).err).toBe("");
    await server.close({ graceMs: 0 });
    file = copy;
    await startServer();
    expect(await listTaskIds()).toEqual([...stored, before, after].toSorted());
  });
});
